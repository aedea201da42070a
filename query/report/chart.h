#pragma once

// A block chart of a series for a terminal: the mean as solid blocks, the maximum above it in a light shade, gaps as
// empty columns, sizes at the left and times below. Pure.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/series.h"
#include "query/args/options.h"
#include "query/args/zone.h"

namespace memoir::query {

// A straight line over the bars.
struct ChartLine {
  std::int64_t from_ms = 0;
  double from_kib = 0;
  std::int64_t to_ms = 0;
  double to_kib = 0;
};

struct ChartFrame {
  int columns = 80;  // width of the terminal
  int rows = 8;      // height of the plot, a multiple of 4; axis and times need two more
  bool ascii = false;
  Units units = Units::automatic;
  Zone zone = Zone::local;
  std::int64_t plain = 0;  // values are plain numbers in units of 1/plain; 0: values are sizes in KiB
  std::optional<ChartLine> line = {};
  std::span<const GridBucket> other = {};    // another series in the same buckets, drawn as a dot at each mean
  std::optional<double> limit_kib = {};      // limit, drawn as a dashed line; the scale includes it
  std::optional<std::int64_t> mark_ms = {};  // time marked by a cross on the axis
};

// Returns the number of buckets that fit.
int plot_columns(const ChartFrame& frame);

// Returns lines of at most frame.columns; none if no bucket has a value.
std::vector<std::string> draw_chart(std::span<const GridBucket> buckets, const ChartFrame& frame);

// The scale of the sizes: four round steps from `base_kib` up. `base_kib` is 0 unless all values are far from 0.
struct Scale {
  double base_kib = 0;
  double step_kib = 1;
  double unit_kib = 1;  // size of the unit in KiB
  std::string unit;

  double top_kib() const { return base_kib + 4 * step_kib; }
};
Scale scale_for(double min_kib, double max_kib, Units units, std::int64_t plain = 0);

// Draws a series in one line: each value is a block of one of eight heights, from the lowest to the highest value. An
// absent value is a space.
std::string sparkline(std::span<const std::optional<double>> values, bool ascii);

}  // namespace memoir::query
