#include "query/report/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

#include "query/args/times.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

constexpr int kLabelColumns = 9;  // "1023 MiB "
constexpr int kDivisions = 4;
constexpr int kTimeColumns = 9;          // "03:14:07 "
constexpr int kTimeAndDateColumns = 12;  // "11-20 03:14 "

struct Glyphs {
  std::array<std::string_view, 9> eighths;  // a cell filled from below
  std::string_view shade;
  std::string_view scale;  // the scale, left of a labelled row
  std::string_view side;   // the scale, left of a row without a label
  std::string_view corner;
  std::string_view axis;     // the axis below a bucket
  std::string_view no_axis;  // the axis below a gap
  std::string_view tick;     // the axis above a time
  std::string_view line;
  std::string_view mean;  // marks the mean if the plot does not start at 0 and nothing is filled
  std::string_view other;
  std::string_view limit;  // the limit, in a cell that is otherwise empty
  std::string_view mark;   // the marked time, on the axis
};

constexpr Glyphs kBlocks{
    {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "░", "┤", "│", "└", "─", " ", "┴", "╱", "━", "●", "╌", "×"};
constexpr Glyphs kAscii{
    {" ", "_", "_", ".", ".", "o", "o", "#", "#"}, ":", "+", "|", "+", "-", " ", "'", "/", "=", "*", "-", "X"};

constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiBars{"_", ".", "-", "~", "=", "+", "*", "#"};

double nice_step(double least) {
  const double decade = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (factor * decade >= least * 0.999999) return factor * decade;
  }
  return 10 * decade;
}

// Omits the space before the unit if the label would be too long: "115.2GiB".
std::string scale_label(const Scale& scale, double kib) {
  const std::string number = fmt::format("{:.4g}", kib / scale.unit_kib);
  const bool fits = number.size() + 1 + scale.unit.size() < kLabelColumns;
  return number + (fits ? " " : "") + scale.unit;
}

// Returns the maximum of a bucket, or the mean, because a bucket of a sum may lack its maximum.
double highest(const GridBucket& bucket) {
  return bucket.max ? static_cast<double>(*bucket.max) : *bucket.mean;
}

// Returns the glyph of a cell. The mean fills it from below; the maximum shades the part above the mean.
std::string_view cell(const GridBucket& bucket, double low, double height, bool bottom, const Glyphs& glyphs) {
  if (!bucket.mean) return " ";
  const double filled = (*bucket.mean - low) / height * 8;
  if (filled >= 1) return glyphs.eighths[static_cast<std::size_t>(std::min(filled, 8.0))];
  const double above = (highest(bucket) - low) / height * 8;
  if (above >= 4) return glyphs.shade;
  return glyphs.eighths[bottom ? 1 : 0];
}

double lowest(const GridBucket& bucket) {
  return bucket.min ? static_cast<double>(*bucket.min) : *bucket.mean;
}

// Draws a cell if the plot starts above 0, where a filled cell would be misleading. The mean is a line, and the range
// around it is shaded.
std::string_view cell_of_line(const GridBucket& bucket, double low, double height, const Glyphs& glyphs) {
  if (!bucket.mean) return " ";
  const auto row_of = [&](double kib) { return std::floor((kib - low) / height); };
  if (row_of(*bucket.mean) == 0) return glyphs.mean;
  return row_of(lowest(bucket)) <= 0 && row_of(highest(bucket)) >= 0 ? glyphs.shade : " ";
}

// Returns whether the line goes through the cell.
bool on_line(const std::optional<ChartLine>& line, const GridBucket& bucket, double low, double height) {
  if (!line || bucket.until_ms <= line->from_ms || bucket.from_ms > line->to_ms) return false;
  const auto middle_ms = static_cast<double>(bucket.from_ms + bucket.until_ms - 2 * line->from_ms) / 2;
  const auto span_ms = static_cast<double>(std::max<std::int64_t>(line->to_ms - line->from_ms, 1));
  const double kib = line->from_kib + (line->to_kib - line->from_kib) * middle_ms / span_ms;
  return kib >= low && kib < low + height;
}

// Returns whether the mean is in the cell.
bool is_in_cell(std::span<const GridBucket> buckets, std::size_t index, double low, double height) {
  return index < buckets.size() && buckets[index].mean && *buckets[index].mean >= low &&
         *buckets[index].mean < low + height;
}

std::string time_label(std::int64_t ms, std::int64_t span_ms, std::int64_t step_ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  if (span_ms > 300 * kDayMs) return fmt::format("{:04}-{:02}-{:02}", at.year, at.month, at.day);
  if (step_ms >= kDayMs) return fmt::format("{:02}-{:02}", at.month, at.day);
  if (span_ms > kDayMs) return fmt::format("{:02}-{:02} {:02}:{:02}", at.month, at.day, at.hour, at.minute);
  if (step_ms < 60'000) return fmt::format("{:02}:{:02}:{:02}", at.hour, at.minute, at.second);
  return fmt::format("{:02}:{:02}", at.hour, at.minute);
}

// Returns the first column of a bucket. The index after the last bucket is allowed, and is the end of the plot.
int column_of(std::size_t bucket, std::size_t buckets, const ChartFrame& frame) {
  const auto columns = static_cast<std::size_t>(plot_columns(frame));
  return static_cast<int>(buckets >= columns ? bucket : bucket * columns / buckets);
}

// Returns the distance between the times on the axis: a round duration that leaves space for each label.
std::int64_t time_step(std::int64_t span_ms, const ChartFrame& frame) {
  const auto most = [&](int columns) { return std::max(plot_columns(frame) / columns, 1) + 2; };
  const std::int64_t step_ms = nice_width(span_ms, most(kTimeColumns), 1000);
  return step_ms >= kDayMs && span_ms <= 7 * kDayMs ? nice_width(span_ms, most(kTimeAndDateColumns), 1000) : step_ms;
}

// Returns the axis and the line of times below it. A time that does not fit is omitted, together with its tick.
std::array<std::string, 2> axis_lines(std::span<const GridBucket> buckets, const ChartFrame& frame,
                                      const Glyphs& glyphs) {
  const std::int64_t from_ms = buckets.front().from_ms;
  const std::int64_t span_ms = buckets.back().until_ms - from_ms;
  const std::int64_t step_ms = time_step(span_ms, frame);
  std::string times(kLabelColumns + 1, ' ');
  std::vector<bool> ticks(static_cast<std::size_t>(plot_columns(frame)));
  int next = 0;
  for (const std::int64_t at_ms : round_times(from_ms, from_ms + span_ms, step_ms, frame.zone)) {
    const auto bucket = std::ranges::find_if(buckets, [at_ms](const GridBucket& of) { return at_ms < of.until_ms; });
    const int column = column_of(static_cast<std::size_t>(bucket - buckets.begin()), buckets.size(), frame);
    const std::string label = time_label(at_ms, span_ms, step_ms, frame.zone);
    if (column < next || column + static_cast<int>(label.size()) > plot_columns(frame)) continue;
    times.append(static_cast<std::size_t>(kLabelColumns + 1 + column) - times.size(), ' ');
    times += label;
    ticks[static_cast<std::size_t>(column)] = true;
    next = column + static_cast<int>(label.size()) + 1;
  }
  std::string axis(kLabelColumns, ' ');
  axis += glyphs.corner;
  for (std::size_t index = 0; index < buckets.size(); ++index) {
    const bool marked =
        frame.mark_ms && buckets[index].from_ms <= *frame.mark_ms && *frame.mark_ms < buckets[index].until_ms;
    for (int part = column_of(index, buckets.size(), frame); part < column_of(index + 1, buckets.size(), frame); ++part)
      axis += marked                                  ? glyphs.mark
              : ticks[static_cast<std::size_t>(part)] ? glyphs.tick
              : buckets[index].mean                   ? glyphs.axis
                                                      : glyphs.no_axis;
  }
  return {axis, times};
}

}  // namespace

Scale scale_for(double min_kib, double max_kib, Units units, std::int64_t plain) {
  Scale scale;
  const SizeUnit unit = plain > 0 ? SizeUnit{"", plain} : unit_for(max_kib, units);
  scale.unit = unit.name;
  scale.unit_kib = static_cast<double>(unit.kib);
  // Bars start at 0, unless all values are so high that their changes would be invisible.
  const bool from_zero = min_kib < 0.7 * max_kib || max_kib - min_kib < 0.01 * max_kib;
  const double span = from_zero ? max_kib : max_kib - min_kib;
  double least = std::max(span / kDivisions, plain > 0 ? 1e-6 : 0.25);
  do {
    scale.step_kib = nice_step(least / scale.unit_kib) * scale.unit_kib;
    scale.base_kib = from_zero ? 0 : std::floor(min_kib / scale.step_kib) * scale.step_kib;
    least = scale.step_kib * 1.01;
  } while (scale.top_kib() < max_kib);
  return scale;
}

int plot_columns(const ChartFrame& frame) {
  return std::max(frame.columns - kLabelColumns - 1, 10);
}

std::vector<std::string> draw_chart(std::span<const GridBucket> buckets, const ChartFrame& frame) {
  std::optional<double> min;
  std::optional<double> max;
  for (const GridBucket& bucket : buckets) {
    if (!bucket.mean) continue;
    min = std::min(min.value_or(*bucket.mean), *bucket.mean);
    max = std::max(max.value_or(0), highest(bucket));
  }
  for (const GridBucket& bucket : frame.other) {
    if (!bucket.mean) continue;
    min = std::min(min.value_or(*bucket.mean), *bucket.mean);
    max = std::max(max.value_or(0), *bucket.mean);
  }
  if (!min) return {};
  max = std::max(*max, frame.limit_kib.value_or(0));
  const Glyphs& glyphs = frame.ascii ? kAscii : kBlocks;
  const Scale scale = scale_for(*min, *max, frame.units, frame.plain);
  const double height = 4 * scale.step_kib / frame.rows;
  std::vector<std::string> lines;
  for (int row = 0; row < frame.rows; ++row) {
    const double low = scale.top_kib() - (row + 1) * height;
    const bool labelled = row % (frame.rows / kDivisions) == 0;
    const bool has_limit = frame.limit_kib && *frame.limit_kib > low && *frame.limit_kib <= low + height;
    std::string line = fmt::format("{:>{}} ", labelled ? scale_label(scale, low + height) : "", kLabelColumns - 1);
    line += labelled ? glyphs.scale : glyphs.side;
    for (std::size_t index = 0; index < buckets.size(); ++index) {
      const bool marked = on_line(frame.line, buckets[index], low, height);
      const std::string_view drawn = is_in_cell(frame.other, index, low, height) ? glyphs.other
                                     : marked                                    ? glyphs.line
                                     : scale.base_kib == 0
                                         ? cell(buckets[index], low, height, row + 1 == frame.rows, glyphs)
                                         : cell_of_line(buckets[index], low, height, glyphs);
      const int end = column_of(index + 1, buckets.size(), frame);
      for (int part = column_of(index, buckets.size(), frame); part < end; ++part)
        line += has_limit && drawn == " " ? glyphs.limit : drawn;
    }
    lines.push_back(line);
  }
  auto [axis, times] = axis_lines(buckets, frame, glyphs);
  const std::string base = fmt::format("{:>{}}", scale_label(scale, scale.base_kib), kLabelColumns - 1);
  lines.push_back(base + axis.substr(base.size()));
  lines.push_back(times);
  return lines;
}

std::string sparkline(std::span<const std::optional<double>> values, bool ascii) {
  std::optional<double> low;
  std::optional<double> high;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    low = std::min(low.value_or(*value), *value);
    high = std::max(high.value_or(*value), *value);
  }
  std::string line;
  for (const std::optional<double>& value : values) {
    if (!value) {
      line += ' ';
      continue;
    }
    const double share = *high > *low ? (*value - *low) / (*high - *low) : 0;
    const auto level = std::min<std::size_t>(static_cast<std::size_t>(share * 8), 7);
    line += (ascii ? kAsciiBars : kBars)[level];
  }
  return line;
}

}  // namespace memoir::query
