#include "query/render/html_chart.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "query/render/markup.h"
#include "query/report/chart.h"

namespace memoir::query {

namespace {

constexpr int kTop = 12;
constexpr int kBottom = 24;  // space for the times
constexpr int kLeft = 64;    // space for the sizes
constexpr int kRight = 14;
constexpr int kDivisions = 4;
constexpr std::size_t kMaxBars = 16;

// Converts values to pixels.
class Plot {
 public:
  Plot(const Chart& chart, const SvgFrame& frame)
      : from_ms_(chart.from_ms),
        span_ms_(std::max<std::int64_t>(chart.to_ms - chart.from_ms, 1)),
        width_(frame.width - kLeft - kRight),
        bottom_(frame.height - kBottom) {
    double max = chart.limit.value_or(0);
    for (const auto* points : {&chart.points, &chart.usual}) {
      for (const ChartPoint& point : *points) max = std::max({max, point.value.value_or(0), point.high.value_or(0)});
    }
    const bool size = chart.kind == Kind::size;
    scale_ = scale_for(0, std::max(max, size ? 1024.0 : 1.0), size ? frame.units : Units::kib);
    if (!size) scale_.unit = "%";
  }

  double x(std::int64_t ms) const {
    return kLeft + width_ * static_cast<double>(ms - from_ms_) / static_cast<double>(span_ms_);
  }
  double y(double value) const { return bottom_ - (bottom_ - kTop) * std::clamp(value / scale_.top_kib(), 0.0, 1.0); }
  double middle(const ChartPoint& point) const { return (x(point.from_ms) + x(point.until_ms)) / 2; }
  double right() const { return kLeft + width_; }
  double bottom() const { return bottom_; }
  double step(int division) const { return scale_.step_kib * division; }
  std::string label(int division) const {
    return fmt::format("{:.4g}{}{}", step(division) / scale_.unit_kib, scale_.unit == "%" ? "" : " ", scale_.unit);
  }

 private:
  std::int64_t from_ms_;
  std::int64_t span_ms_;
  double width_;
  double bottom_;
  Scale scale_;
};

bool follows(const ChartPoint& before, const ChartPoint& point) {
  return before.until_ms == point.from_ms;
}

// Calls `draw` with each run of consecutive points that satisfy `has`. Runs are separated by gaps.
template <typename Has, typename Draw>
void each_run(const std::vector<ChartPoint>& points, Has has, Draw draw) {
  for (auto begin = points.begin(); begin != points.end();) {
    if (!has(*begin)) {
      ++begin;
      continue;
    }
    auto end = begin + 1;
    while (end != points.end() && has(*end) && follows(*(end - 1), *end)) ++end;
    draw(std::span<const ChartPoint>(begin, end));
    begin = end;
  }
}

std::string path(std::string_view css_class, const std::string& commands) {
  return commands.empty() ? std::string() : fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, commands);
}

// Returns a line through the middle of each point's time, extended to the edges of the run.
template <typename Get>
std::string along(const Plot& plot, std::span<const ChartPoint> run, Get get) {
  std::string line = fmt::format("{:.1f} {:.1f}", plot.x(run.front().from_ms), plot.y(*get(run.front())));
  for (const ChartPoint& point : run) line += fmt::format("L{:.1f} {:.1f}", plot.middle(point), plot.y(*get(point)));
  return line + fmt::format("L{:.1f} {:.1f}", plot.x(run.back().until_ms), plot.y(*get(run.back())));
}

std::string area(const Plot& plot, const std::vector<ChartPoint>& points, std::string_view css_class) {
  std::string commands;
  each_run(
      points, [](const ChartPoint& point) { return point.low && point.high; },
      [&](std::span<const ChartPoint> run) {
        commands += "M" + along(plot, run, [](const ChartPoint& point) { return point.high; });
        for (auto point = run.rbegin(); point != run.rend(); ++point) {
          if (point == run.rbegin())
            commands += fmt::format("L{:.1f} {:.1f}", plot.x(point->until_ms), plot.y(*point->low));
          commands += fmt::format("L{:.1f} {:.1f}", plot.middle(*point), plot.y(*point->low));
        }
        commands += fmt::format("L{:.1f} {:.1f}Z", plot.x(run.front().from_ms), plot.y(*run.front().low));
      });
  return path(css_class, commands);
}

std::string line(const Plot& plot, const std::vector<ChartPoint>& points) {
  std::string commands;
  each_run(
      points, [](const ChartPoint& point) { return point.value.has_value(); },
      [&](std::span<const ChartPoint> run) {
        commands += "M" + along(plot, run, [](const ChartPoint& point) { return point.value; });
      });
  return path("line", commands);
}

// Draws few points: each range as a bar, and its value as a line across the bar.
std::string bars(const Plot& plot, const std::vector<ChartPoint>& points) {
  std::string out;
  for (const ChartPoint& point : points) {
    if (!point.value) continue;
    const double width = std::min((plot.x(point.until_ms) - plot.x(point.from_ms)) * 0.6, 40.0);
    const double left = plot.middle(point) - width / 2;
    const double high = plot.y(point.high.value_or(*point.value));
    const double low = plot.y(point.low.value_or(*point.value));
    out += fmt::format(R"(<rect class="range" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2"/>)", left,
                       high, width, std::max(low - high, 1.0));
    out += path("line", fmt::format("M{:.1f} {:.1f}h{:.1f}", left, plot.y(*point.value), width));
  }
  return out;
}

// Draws the gaps in the recording.
std::string gaps(const Plot& plot, const Chart& chart) {
  std::string commands;
  std::int64_t end_ms = chart.from_ms;
  const auto gap = [&](std::int64_t from_ms, std::int64_t until_ms) {
    if (plot.x(until_ms) - plot.x(from_ms) < 0.5) return;
    commands += fmt::format("M{:.1f} {}H{:.1f}V{:.1f}H{:.1f}Z", plot.x(from_ms), kTop, plot.x(until_ms), plot.bottom(),
                            plot.x(from_ms));
  };
  for (const ChartPoint& point : chart.points) {
    if (!point.value) continue;
    gap(end_ms, point.from_ms);
    end_ms = point.until_ms;
  }
  gap(end_ms, chart.to_ms);
  return path("gap", commands);
}

std::string axes(const Plot& plot, const Chart& chart, bool narrow) {
  std::string out;
  for (int division = 0; division <= kDivisions; ++division) {
    const double y = plot.y(plot.step(division));
    out += path(division == 0 ? "axis" : "grid", fmt::format("M{} {:.1f}H{:.1f}", kLeft, y, plot.right()));
    // A small chart has labels only at its top and bottom.
    if (chart.small && division % kDivisions != 0) continue;
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 7, y + 4,
                       escape_html(plot.label(division)));
  }
  const bool with_seconds = std::ranges::any_of(chart.times, [](const auto& time) { return time.second.size() > 5; });
  const std::size_t fitting = with_seconds ? 4 : 5;
  const std::size_t every = (chart.small || narrow) && chart.times.size() > fitting ? 2 : 1;
  for (std::size_t i = 0; i < chart.times.size(); i += every) {
    const double x = plot.x(chart.times[i].first);
    const bool last = x > plot.right() - kRight;  // a centred text would be cut off
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", last ? plot.right() + kRight : x,
                    plot.bottom() + 17, last ? "end" : "middle", escape_html(chart.times[i].second));
  }
  return out;
}

// Draws vertical lines with their names: to the right of the line if there is room, otherwise to its left.
std::string marks(const Plot& plot, const Chart& chart) {
  std::string out;
  for (const auto& [at_ms, name] : chart.marks) {
    const double x = plot.x(at_ms);
    constexpr double letter = 7.5;
    const bool left = x + 5 + letter * static_cast<double>(name.size()) > plot.right();
    out += path("mark", fmt::format("M{:.1f} {}V{:.1f}", x, kTop, plot.bottom())) +
           fmt::format("<text class=\"mark\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n",
                       left ? x - 5 : x + 5, kTop + 24, left ? "end" : "start", escape_html(name));
  }
  return out;
}

}  // namespace

std::string draw_svg(const Chart& chart, const SvgFrame& frame) {
  if (std::ranges::none_of(chart.points, [](const ChartPoint& point) { return point.value.has_value(); })) return {};
  const Plot plot(chart, frame);
  std::string out = fmt::format(
      "<svg class=\"{}\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{}\">\n",
      frame.css_class, frame.width, frame.height, frame.width, frame.height, escape_html(chart.title));
  const bool few = chart.points.size() <= kMaxBars;
  if (!few) out += gaps(plot, chart);
  out += axes(plot, chart, frame.width < 500) + area(plot, chart.usual, "usual");
  if (chart.limit) out += path("limit", fmt::format("M{} {:.1f}H{:.1f}", kLeft, plot.y(*chart.limit), plot.right()));
  out += few ? bars(plot, chart.points) : area(plot, chart.points, "range") + line(plot, chart.points);
  return out + marks(plot, chart) + "</svg>\n";
}

}  // namespace memoir::query
