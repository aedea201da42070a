#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "query/report/chart.h"
#include "query/view/draw.h"
#include "query/view/layout_of.h"
#include "query/view/pages.h"
#include "query/view/process_lines.h"

namespace memoir::query::view {
namespace {

struct BarGlyphs {
  std::array<std::string_view, 9> eighths;
  std::string_view shade;
  std::string_view scale;
  std::string_view side;
  std::string_view corner;
  std::string_view axis;
  std::string_view tick;
  std::string_view cursor;
  std::string_view gap;
};

constexpr BarGlyphs kBlockBar{{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "░", "┤", "│", "└", "─", "┴", "▲", "·"};
constexpr BarGlyphs kAsciiBar{{" ", "_", ".", ":", "-", "=", "+", "#", "#"}, ":", "+", "|", "+", "-", "'", "^", "."};

const BarGlyphs& glyphs_of(const Setup& setup) {
  return setup.ascii ? kAsciiBar : kBlockBar;
}

// Lowest mean and highest value that the bar shows.
struct Extent {
  double min = 0;
  double max = 0;
  bool known = false;
};

Extent extent_of(std::span<const BarColumn> columns) {
  Extent extent;
  for (const BarColumn& column : columns) {
    if (!column.mean) continue;
    const double high = column.max.value_or(*column.mean);
    extent.min = extent.known ? std::min(extent.min, *column.mean) : *column.mean;
    extent.max = extent.known ? std::max(extent.max, high) : high;
    extent.known = true;
  }
  return extent;
}

// A size in five columns at most, as "1.6G".
std::string short_size(double kib, const Scale& scale) {
  const double value = kib / scale.unit_kib;
  const std::string unit = scale.unit.substr(0, 1);
  if (value < 1) return fmt::format("{:.2f}{}", value, unit);
  return value < 1000 ? fmt::format("{:.3g}{}", value, unit) : fmt::format("{:.0f}{}", value, unit);
}

// A cell of a column: solid up to the mean, shaded up to the maximum.
std::string_view cell_at(const BarColumn& column, double low, double height, const BarGlyphs& glyphs) {
  if (!column.mean) return glyphs.eighths[0];
  const auto eighths = [&](double value) { return (value - low) / height * 8; };
  const double mean = eighths(*column.mean);
  if (mean >= 0.5) return glyphs.eighths[static_cast<std::size_t>(std::clamp(std::round(mean), 1.0, 8.0))];
  const double max = eighths(column.max.value_or(*column.mean));
  if (max >= 4) return glyphs.shade;
  return glyphs.eighths[max >= 0.5 ? 1 : 0];
}

}  // namespace

void draw_chart_lines(CellGrid& grid, const Setup& setup, std::span<const BarColumn> columns, const ChartPlace& at) {
  const BarGlyphs& glyphs = glyphs_of(setup);
  const Extent extent = extent_of(columns);
  const Scale scale = scale_for(extent.min, std::max(extent.max, 1.0), setup.units);
  const double height = (scale.top_kib() - scale.base_kib) / static_cast<double>(at.lines);
  std::string label;
  for (std::size_t row = 0; row < at.lines; ++row) {
    const double low = scale.top_kib() - static_cast<double>(row + 1) * height;
    const std::size_t line = at.line + row;
    // Lines closer than the label's digits would repeat it.
    std::string next = short_size(low + height, scale);
    if (extent.known && next != label) grid.put(line, at.column, fmt::format("{:>5}", next));
    label = std::move(next);
    grid.put(line, at.column + kBarLabel - 1, glyphs.scale);
    for (std::size_t column = 0; column < columns.size(); ++column)
      grid.put(line, at.column + kBarLabel + column, cell_at(columns[column], low, height, glyphs));
  }
}

namespace {

Tone tone_of_letter(char letter) {
  if (letter == 'K' || letter == 'k') return Tone::problem;
  return letter == '!' || letter == 'R' || letter == 'B' ? Tone::warning : Tone::plain;
}

void draw_letters(CellGrid& grid, const Model& model, std::size_t line) {
  const BarGlyphs& glyphs = glyphs_of(model.setup);
  grid.put(line, kBarLabel - 1, glyphs.side);
  const std::string letters = letters_by_column(model.bar);
  for (std::size_t at = 0; at < letters.size(); ++at) {
    // Time in the future is not a gap.
    if (letters[at] == '.' && model.bar.begin_of(at) > model.recorded.last_ms) continue;
    const std::string one(1, letters[at]);
    grid.put(line, kBarLabel + at, letters[at] == '.' ? glyphs.gap : std::string_view(one),
             {tone_of_letter(letters[at])});
  }
}

// Draws the share of time for which tasks waited for memory, on one line. The scale ends at 20 %, or at the highest
// share if that is more.
void draw_pressure(CellGrid& grid, const Model& model, std::size_t line) {
  constexpr double usual_top = 20;
  constexpr double least = 0.1;
  const BarGlyphs& glyphs = glyphs_of(model.setup);
  const std::vector<BarColumn>& columns = model.bar.pressure;
  const double top = std::max(usual_top, extent_of(columns).max);
  grid.put(line, 1, "some");
  grid.put(line, kBarLabel - 1, glyphs.side);
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const double share = columns[at].max.value_or(0);
    const double eighths = share < least ? 0 : std::clamp(std::round(share / top * 8), 1.0, 8.0);
    grid.put(line, kBarLabel + at, glyphs.eighths[static_cast<std::size_t>(eighths)]);
  }
}

// Draws the time axis of `bar`, from the screen column `from` on.
void draw_axis(CellGrid& grid, const Model& model, const TimeBar& bar, std::size_t line, std::size_t from) {
  const BarGlyphs& glyphs = glyphs_of(model.setup);
  const std::size_t first = from + kBarLabel;
  grid.put(line, first - 1, glyphs.corner);
  for (std::size_t at = 0; at < bar.count; ++at) grid.put(line, first + at, glyphs.axis);
  for (const AxisTime& time : axis_times(bar, model.setup.zone)) {
    grid.put(line, first + time.column, glyphs.tick);
    grid.put(line, first + time.column + 1, time.text);
  }
  if (model.mark_ms && bar.holds(*model.mark_ms))
    grid.put(line, first + bar.column_of(*model.mark_ms), "M", {Tone::marked});
  if (bar.holds(model.at_ms)) grid.put(line, first + bar.column_of(model.at_ms), glyphs.cursor, {Tone::marked});
}

}  // namespace

void draw_bar(CellGrid& grid, const Model& model) {
  const Layout layout = layout_of({grid.columns(), grid.lines()});
  const TimeBar& bar = model.bar;
  const bool has_cursor = bar.holds(model.at_ms);
  const std::size_t cursor = kBarLabel + (has_cursor ? bar.column_of(model.at_ms) : 0);
  if (layout.chart_lines == 0) {
    std::vector<std::optional<double>> values;
    for (const BarColumn& column : bar.columns) values.push_back(column.max);
    grid.put(1, 1, "used");
    grid.put(1, kBarLabel, sparkline(values, model.setup.ascii));
    if (has_cursor) grid.paint(1, cursor, 1, {Tone::plain, true});
    return;
  }
  draw_chart_lines(grid, model.setup, bar.columns, {1, layout.chart_lines, 0});
  if (layout.pressure_line > 0) draw_pressure(grid, model, layout.pressure_line);
  const std::size_t line = layout.machine_line - 2;
  draw_letters(grid, model, line);
  draw_axis(grid, model, bar, line + 1, 0);
  for (std::size_t at = 1; has_cursor && at < line; ++at) grid.paint(at, cursor, 1, {Tone::plain, true});
}

void draw_side(CellGrid& grid, const Model& model, const Layout& layout) {
  constexpr std::size_t chart_lines = 4;
  constexpr std::size_t after_cursor = 6;
  const std::size_t left = page_columns(model);
  for (std::size_t line = layout.page_line; line < layout.status_line; ++line)
    grid.put(line, left, glyphs_of(model.setup).side);
  const std::size_t width = kSideColumns - 2;
  std::size_t at = layout.page_line;
  const auto put = [&](const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      if (at < layout.status_line) grid.put(at++, left + 2, line.text, {line.tone});
    }
  };
  put(process_head(model, width));
  TimeBar part = model.bar;
  if (!model.subject.empty() && part.count > 0 && at + chart_lines + 1 < layout.status_line) {
    part.process.resize(part.count);  // empty before its answer
    const std::size_t columns = std::min(part.count, width - kBarLabel);
    const std::size_t cursor = part.holds(model.at_ms) ? part.column_of(model.at_ms) : part.count;
    const std::size_t end = std::clamp(cursor + after_cursor, columns, part.count);
    draw_chart_lines(grid, model.setup, std::span(part.process).subspan(end - columns, columns),
                     {at, chart_lines, left + 2});
    part.from_ms = part.begin_of(end - columns);
    part.count = columns;
    draw_axis(grid, model, part, at + chart_lines, left + 2);
    at += chart_lines + 1;
  }
  put(process_details(model, width));
}

}  // namespace memoir::query::view
