#include "model/process.h"

#include <algorithm>

namespace memoir {

std::optional<std::int64_t> high_water_kib(const ProcessMemory& memory) {
  std::optional<std::int64_t> mark;
  // An empty optional is less than any value.
  for (const ProcessField field : {ProcessField::vm_hwm, ProcessField::vm_rss, ProcessField::rss}) {
    mark = std::max(mark, memory.get(field));
  }
  return mark;
}

std::optional<std::int64_t> uss_kib(const ProcessMemory& memory) {
  const auto clean = memory.get(ProcessField::private_clean);
  const auto dirty = memory.get(ProcessField::private_dirty);
  if (!clean || !dirty) return std::nullopt;
  return *clean + *dirty;
}

namespace {

std::optional<std::int64_t> either(const ProcessMemory& memory, ProcessField first, ProcessField second) {
  return memory.has(first) ? memory.get(first) : memory.get(second);
}

}  // namespace

std::optional<std::int64_t> rss_kib(const ProcessMemory& memory) {
  return either(memory, ProcessField::rss, ProcessField::vm_rss);
}

std::optional<std::int64_t> anon_kib(const ProcessMemory& memory) {
  return either(memory, ProcessField::anonymous, ProcessField::rss_anon);
}

std::optional<std::int64_t> swap_kib(const ProcessMemory& memory) {
  return either(memory, ProcessField::swap, ProcessField::vm_swap);
}

PssBounds pss_bounds(const ProcessSample& sample, std::int64_t family) {
  const ProcessMemory& memory = sample.memory;
  const std::int64_t pss = memory.or_zero(ProcessField::pss);
  if (is_known(sample.source)) return {pss, pss};
  const std::int64_t anonymous = memory.or_zero(ProcessField::rss_anon);
  const bool own = family == 1 || (sample.source == Source::estimated &&
                                   memory.get(ProcessField::pss_anon) == memory.get(ProcessField::rss_anon));
  // The kernel rounds the share of each page down.
  const std::int64_t shared_by_all = family > 0 ? std::max<std::int64_t>(anonymous / family - 1, 0) : 0;
  return {std::min(own ? anonymous : shared_by_all, pss), std::max(memory.or_zero(ProcessField::vm_rss), pss)};
}

std::string_view to_string(Source source) {
  constexpr std::array<std::string_view, 5> names{"exact", "held", "estimated", "approximate", "inaccessible"};
  return names.at(std::min(static_cast<std::size_t>(source), names.size() - 1));
}

}  // namespace memoir
