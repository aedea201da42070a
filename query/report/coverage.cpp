#include "query/report/coverage.h"

#include <algorithm>
#include <fmt/format.h>

#include "query/report/format.h"

namespace memoir::query {

std::string coverage_line(const Coverage& coverage, Zone zone) {
  std::string line = fmt::format("Recorded {} of {} ({})", print_span(coverage.recorded_ms),
                                 print_span(coverage.asked.to_ms - coverage.asked.from_ms),
                                 print_count(coverage.ticks, "tick", "ticks"));
  if (coverage.gaps.empty()) return line + ", without a gap.";
  const auto longest =
      std::ranges::max_element(coverage.gaps, {}, [](const Gap& gap) { return gap.to_ms - gap.from_ms; });
  const bool one = coverage.gaps.size() == 1;
  return line + fmt::format("; {}{} at {} ({}).",
                            one ? "a gap of " : fmt::format("{} gaps, the longest ", coverage.gaps.size()),
                            print_span(longest->to_ms - longest->from_ms), print_time(longest->from_ms, zone),
                            longest->reason);
}

}  // namespace memoir::query
