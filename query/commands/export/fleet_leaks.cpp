#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "query/commands/export/fleet.h"
#include "query/leaks/judged_leaks.h"

namespace memoir::query {
namespace {

std::string leaker(const LeakRow& row) {
  const std::string program = row.subject == "machine" ? "" : program_of(row.subject);
  return fmt::format("{},{},{}", short_label("unit", row.unit), short_label("program", program),
                     short_label("of", row.metric.name));
}

}  // namespace

Result<FleetLeaks> judge_leaks(const Context& context, std::int64_t at_ms, const LeakSettings& settings,
                               std::size_t most, const std::string& labels) {
  const Range range{std::max(at_ms - kLeakHistoryMs, context.file.first_tick_ms), at_ms};
  LiveLeaks live = TRY(judge_live_leaks(context, range, settings));
  std::vector<LeakRow>& rows = live.rows;
  std::erase_if(rows, [](const LeakRow& row) { return row.exited_ms.has_value(); });
  rank_leaks(rows);
  FleetLeaks leaks{at_ms, {}};
  const auto add = [&leaks](FleetOf of, double value, std::string of_whom, std::size_t rank) {
    leaks.samples.push_back({family_of(of), std::move(of_whom), std::llround(value), rank});
  };
  add(FleetOf::leaks, static_cast<double>(rows.size()), labels, 0);
  add(FleetOf::leaks_judged, static_cast<double>(at_ms), labels, 0);
  for (std::size_t rank = 0; rank < std::min(rows.size(), most); ++rank) {
    const LeakFinding& found = rows[rank].finding;
    const std::string of = labels + "," + leaker(rows[rank]);
    const bool memory = rows[rank].metric.unit == LeakUnit::kib;
    constexpr double kib = 1024;
    constexpr double thousandths = 1000;
    add(memory ? FleetOf::leak_growth : FleetOf::leak_growth_items,
        found.slope_per_day.value * (memory ? kib : thousandths), of, rank);
    add(FleetOf::leak_confidence, found.confidence, of, rank);
    if (found.exhaustion && found.exhaustion->in_ms) {
      add(FleetOf::leak_exhaustion, found.exhaustion->in_ms->value,
          of + "," + short_label("limit", found.exhaustion->limit), rank);
    }
  }
  return leaks;
}

void add_leaks(const FleetLeaks& leaks, std::int64_t at_ms, std::vector<FleetSample>& samples) {
  const std::size_t exhaustion = family_of(FleetOf::leak_exhaustion);
  for (FleetSample sample : leaks.samples) {
    if (sample.family == exhaustion)
      sample.value = std::max<std::int64_t>(sample.value - std::max<std::int64_t>(at_ms - leaks.judged_ms, 0), 0);
    samples.push_back(std::move(sample));
  }
}

}  // namespace memoir::query
