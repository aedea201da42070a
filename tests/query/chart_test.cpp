#include "query/report/chart.h"

#include "query/render/layout.h"
#include "query/render/terminal.h"
#include "query/zone_guard.h"
#include "support/catch.h"

namespace chart_test {

using namespace memoir;
using namespace memoir::query;

namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kMidnight = 1'795'046'400'000;  // 2026-11-19 00:00 UTC

// Buckets of a minute with a mean and a maximum in MiB; a negative mean is a gap.
std::vector<GridBucket> minutes(const std::vector<std::pair<std::int64_t, std::int64_t>>& values) {
  std::vector<GridBucket> buckets;
  for (const auto& [mean, max] : values) {
    const std::int64_t from = kMidnight + static_cast<std::int64_t>(buckets.size()) * kMinute;
    GridBucket bucket{from, from + kMinute, 0, {}, {}, {}};
    if (mean >= 0) bucket = {from, from + kMinute, kMinute, mean * 1024, static_cast<double>(mean * 1024), max * 1024};
    buckets.push_back(bucket);
  }
  return buckets;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text = "\n";
  for (const std::string& line : lines) text += line + "|\n";
  return text;
}

}  // namespace

TEST_CASE("a sparkline shows the shape, and gaps as gaps") {
  const std::vector<std::optional<double>> values{1.0, 2.0, std::nullopt, 8.0, 4.5};
  CHECK(sparkline(values, false) == "▁▂ █▅");
  CHECK(sparkline(values, true) == "_. #=");
  CHECK(sparkline(std::vector<std::optional<double>>{5.0, 5.0}, true) == "__");
  CHECK(sparkline({}, true).empty());
}

TEST_CASE("a chart draws means, maxima and gaps against its scale") {
  const auto buckets = minutes({{100, 100}, {200, 200}, {300, 390}, {-1, -1}, {400, 400}, {0, 0}});
  ChartFrame frame;
  frame.columns = 34;
  frame.zone = Zone::utc;
  CHECK(joined(draw_chart(buckets, frame)) == R"(
 400 MiB ┤        ░░░░    ████    |
         │        ░░░░    ████    |
 300 MiB ┤        ████    ████    |
         │        ████    ████    |
 200 MiB ┤    ████████    ████    |
         │    ████████    ████    |
 100 MiB ┤████████████    ████    |
         │████████████    ████▁▁▁▁|
   0 MiB └┴───────┴───    ┴───────|
          00:00   00:02   00:04|
)");
  frame.ascii = true;
  CHECK(joined(draw_chart(buckets, frame)) == R"(
 400 MiB +        ::::    ####    |
         |        ::::    ####    |
 300 MiB +        ####    ####    |
         |        ####    ####    |
 200 MiB +    ########    ####    |
         |    ########    ####    |
 100 MiB +############    ####    |
         |############    ####____|
   0 MiB +'-------'---    '-------|
          00:00   00:02   00:04|
)");
}

TEST_CASE("a chart that does not start at 0 shows the mean as a line, and is not filled") {
  auto buckets = minutes({{900, 900}, {950, 990}, {999, 999}, {-1, -1}});
  buckets[1].min = 910 * 1024;
  ChartFrame frame;
  frame.columns = 26;
  frame.rows = 4;
  frame.zone = Zone::utc;
  CHECK(joined(draw_chart(buckets, frame)) == R"(
1000 MiB ┤    ░░░░━━━━    |
 975 MiB ┤    ━━━━        |
 950 MiB ┤    ░░░░        |
 925 MiB ┤━━━━░░░░        |
 900 MiB └┴───────┴───    |
          00:00   00:02|
)");
}

TEST_CASE("times on the axis are round in the time zone and at equal distances") {
  const auto times = [](const char* name, std::int64_t from_ms, std::int64_t span_ms, std::int64_t step_ms) {
    const test::ZoneGuard zone(name);
    std::string text;
    for (const std::int64_t ms : round_times(from_ms, from_ms + span_ms, step_ms, Zone::local))
      text += format_time(ms, Zone::local).substr(5, 11) + " ";
    return text;
  };
  constexpr std::int64_t hour = 60 * kMinute;
  CHECK(times("UTC", kMidnight + 7 * kMinute, 24 * hour, 6 * hour) ==
        "11-19 06:00 11-19 12:00 11-19 18:00 11-20 00:00 ");
  CHECK(times("UTC", kMidnight + 1, 20 * kMinute, 5 * kMinute) == "11-19 00:05 11-19 00:10 11-19 00:15 11-19 00:20 ");
  CHECK(times("IST-5:30", kMidnight, 12 * hour, 6 * hour) == "11-19 06:00 11-19 12:00 ");
  // On 2026-10-25 the clocks in Berlin are set back at 03:00.
  constexpr std::int64_t autumn = 1'792'879'200'000;
  CHECK(times(test::kBerlin, autumn, 25 * hour, 6 * hour) == "10-25 00:00 10-25 06:00 10-25 12:00 10-25 18:00 ");
  CHECK(times(test::kBerlin, autumn, 72 * hour, 24 * hour) == "10-25 00:00 10-26 00:00 10-27 00:00 ");
}

TEST_CASE("a chart fits its terminal with any series") {
  use_utf8();
  for (const int columns : {20, 40, 80, 200}) {
    for (const std::int64_t span : {kMinute, 60 * kMinute, 1440 * kMinute, 40 * 1440 * kMinute, 800 * 1440 * kMinute}) {
      ChartFrame frame;
      frame.columns = columns;
      frame.zone = Zone::utc;
      const std::int64_t from = kMidnight + 12'345'678;
      const Grid grid{from, from + span, nice_width(span, plot_columns(frame), 10'000), 0};
      for (const std::int64_t other : {1, 119'500'000, 120'123'456}) {
        const std::vector<Interval> halves{constant(from, from + span / 2, other == 1 ? 1'500'000'000 : 120'000'000),
                                           constant(from + span / 2, from + span, other)};
        const auto lines = draw_chart(cut_into_buckets(halves, grid), frame);
        REQUIRE(lines.size() == 10);
        for (const std::string& line : lines) CHECK(display_width(line) <= static_cast<std::size_t>(columns));
      }
    }
  }
}

TEST_CASE("a series without any value has no chart") {
  CHECK(draw_chart(minutes({{-1, -1}, {-1, -1}}), {}).empty());
}

TEST_CASE("the scale starts at 0 unless that hides changes, and covers all values") {
  const Scale low = scale_for(10 * 1024, 90 * 1024, Units::automatic);
  CHECK(low.base_kib == 0);
  CHECK(low.top_kib() == 100 * 1024);
  CHECK(low.unit == "MiB");
  const Scale high = scale_for(900 * 1024, 1000 * 1024, Units::automatic);
  CHECK(high.base_kib == 900 * 1024);
  CHECK(high.top_kib() == 1000 * 1024);
  CHECK(scale_for(500, 2000, Units::kib).unit == "KiB");
  for (std::int64_t max = 1; max < 4'000'000'000; max = max * 3 / 2 + 1) {
    for (const double share : {0.0, 0.5, 0.8, 0.95, 1.0}) {
      const auto top = static_cast<double>(max);
      const Scale scale = scale_for(top * share, top, Units::automatic);
      CHECK(scale.top_kib() >= top);
      CHECK(scale.base_kib <= top * share);
    }
  }
  CHECK(scale_for(0, 0, Units::automatic).top_kib() > 0);
}

}  // namespace chart_test
