#include "model/process.h"

#include <algorithm>

#include "base/heap_bytes.h"
#include "model/field_rule.h"

namespace memoir {

std::optional<std::int64_t> high_water_kib(const ProcessMemory& memory) {
  return value_of(kHighWaterRule, memory);
}

std::optional<std::int64_t> uss_kib(const ProcessMemory& memory) {
  return value_of(kUssRule, memory);
}

std::optional<std::int64_t> rss_kib(const ProcessMemory& memory) {
  return value_of(kRssRule, memory);
}

std::int64_t slight_kib(std::int64_t pss_kib) {
  return std::max(std::clamp<std::int64_t>(pss_kib / 32, 32, 64), pss_kib / 200);
}

PssBounds pss_bounds(const ProcessSample& sample, std::int64_t family) {
  const ProcessMemory& memory = sample.memory;
  const std::int64_t pss = memory.or_zero(ProcessField::pss);
  if (is_known(sample.source) && memory.has(ProcessField::pss)) {
    const std::int64_t shared = memory.or_zero(ProcessField::rss_file) + memory.or_zero(ProcessField::rss_shmem) +
                                memory.or_zero(ProcessField::anonymous) - memory.or_zero(ProcessField::pss_anon);
    const std::int64_t error = sample.source == Source::held ? std::min(slight_kib(pss), shared) : 0;
    return {std::max<std::int64_t>(pss - error, 0),
            std::max(pss, std::min(pss + error, rss_kib(memory).value_or(pss)))};
  }
  const std::int64_t anonymous = memory.or_zero(ProcessField::rss_anon);
  const bool own = family == 1 || (sample.source == Source::estimated &&
                                   memory.get(ProcessField::pss_anon) == memory.get(ProcessField::rss_anon));
  // The kernel rounds the share of each page down.
  const std::int64_t shared_by_all = family > 0 ? std::max<std::int64_t>(anonymous / family - 1, 0) : 0;
  return {std::min(own ? anonymous : shared_by_all, pss), std::max(memory.or_zero(ProcessField::vm_rss), pss)};
}

std::size_t heap_bytes(const ProcessInfo& info) {
  const ProcessSettings& settings = info.settings;
  std::size_t bytes = 0;
  for (const std::string* text : {&info.user, &info.comm, &info.exe, &info.command, &info.cgroup, &info.cwd,
                                  &info.category, &settings.cwd, &settings.limits, &settings.category_rule})
    bytes += heap_bytes(*text);
  return bytes;
}

std::string_view to_string(Source source) {
  constexpr std::array<std::string_view, 5> names{"exact", "held", "estimated", "approximate", "inaccessible"};
  return names.at(std::min(static_cast<std::size_t>(source), names.size() - 1));
}

}  // namespace memoir
