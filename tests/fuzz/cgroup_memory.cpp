#include "proc/cgroup_memory.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace {

using Maybe = std::optional<std::int64_t>;

// The values of valid input must be valid, and invalid input must have a reason.
template <typename T>
void require_natural(std::string_view text, const memoir::Result<T>& parsed, std::initializer_list<Maybe T::*> values) {
  if (!parsed) return memoir::fuzz::require_good(parsed.error(), text);
  for (const auto value : values) memoir::fuzz::require(((*parsed).*value).value_or(0) >= 0, "no value is negative");
}

}  // namespace

void memoir::fuzz::cgroup_memory(std::string_view text) {
  const auto limit = parse_cgroup_limit(text);
  if (limit) {
    require(!*limit || **limit >= 0, "no limit is negative");
  } else {
    require_good(limit.error(), text);
  }
  for (const auto& number : {parse_cgroup_usage(text), parse_cgroup_count(text)}) {
    if (number) {
      require(*number >= 0, "no number is negative");
    } else {
      require_good(number.error(), text);
    }
  }
  require_natural(text, parse_cgroup_stat(text),
                  {&CgroupStat::anon, &CgroupStat::shmem, &CgroupStat::kernel, &CgroupStat::swap});
  require_natural(
      text, parse_cgroup_events(text),
      {&CgroupEvents::low, &CgroupEvents::high, &CgroupEvents::max, &CgroupEvents::oom, &CgroupEvents::oom_kill});
  require_natural(text, parse_cgroup_pressure(text), {&CgroupPressure::some_total_us, &CgroupPressure::full_total_us});
}
