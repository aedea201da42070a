#include "store/write/limit_changes.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "store/write/run_log.h"

namespace memoir {
namespace {

constexpr std::int64_t kTogetherMs = 5 * 60 * 1000;

std::string print_limit(std::optional<std::int64_t> kib) {
  return kib ? fmt::format("{:.1f} MiB", static_cast<double>(*kib) / 1024) : "none";
}

void add_changes(const CgroupSample& was, const CgroupSample& is, const Moment& at, std::vector<Event>& events) {
  const auto add = [&](const char* what, std::optional<std::int64_t> CgroupSample::*limit) {
    if (was.*limit == is.*limit) return;
    events.push_back({at, "limit",
                      fmt::format("{} of the cgroup {} was changed from {} to {}", what, end_of_path(is.path),
                                  print_limit(was.*limit), print_limit(is.*limit))});
  };
  add("The limit (memory.max)", &CgroupSample::max_kib);
  add("memory.high", &CgroupSample::high_kib);
  add("The limit of swap", &CgroupSample::swap_max_kib);
}

}  // namespace

std::vector<Event> limit_change_events(const std::vector<StoredSample<CgroupSample>>& before, const Tick& tick,
                                       LimitChanges& told) {
  std::vector<Event> events;
  auto was = before.begin();
  for (const CgroupSample& is : tick.cgroups) {
    while (was != before.end() && was->last.path < is.path) ++was;
    if (was != before.end() && was->last.path == is.path) add_changes(was->last, is, tick.begin, events);
  }
  const std::int64_t block = tick.begin.boot_ms / kTogetherMs;
  if (told.block != block) told = {block, 0};
  const std::int64_t left = kMostLimitChanges - told.count;
  told.count += std::ssize(events);
  if (std::ssize(events) <= left) return events;
  events.resize(static_cast<std::size_t>(std::max<std::int64_t>(left, 0)));
  if (left >= 0)
    events.push_back({tick.begin, "limit", "More limits of cgroups were changed; for some minutes they are not told"});
  return events;
}

}  // namespace memoir
