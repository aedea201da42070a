#include "store/rollup/high_water.h"

#include <algorithm>

namespace memoir {

const char* to_string(MarkMetric metric) {
  constexpr std::array names{"used", "available", "swap", "pss", "rss", "uss", "hwm"};
  return names.at(static_cast<std::size_t>(metric));
}

MarkValues mark_values(const MachineMemory& memory) {
  return {used_kib(memory), memory.get(MachineField::mem_available), swap_used_kib(memory), std::nullopt};
}

MarkValues mark_values(const CategorySample& sample) {
  return {sample.pss_kib, sample.rss_kib, sample.uss_kib, sample.swap_kib};
}

MarkValues mark_values(const ProcessMemory& memory, Source source) {
  const bool measured = source != Source::approximate && source != Source::inaccessible;
  return {high_water_kib(memory), measured ? memory.get(ProcessField::pss) : std::nullopt, uss_kib(memory),
          memory.get(ProcessField::swap)};
}

bool beats(MarkMetric metric, std::int64_t value, std::optional<std::int64_t> mark) {
  if (metric == MarkMetric::available) return !mark || value < *mark;
  return value > mark.value_or(0);
}

MarkTime since_start(MarkTime time, std::int64_t start_ms, bool had_tick_before) {
  const std::int64_t earliest = had_tick_before ? std::max(time.before_ms, start_ms) : start_ms;
  return {time.at_ms, std::min(earliest, time.at_ms)};
}

void Marks::see(std::size_t index, MarkMetric metric, std::optional<std::int64_t> value, MarkTime time) {
  if (!value) return;
  for (Mark* mark : {&day[index], &ever[index]}) {
    if (beats(metric, *value, mark->value)) *mark = {value, time, true};
  }
}

std::int64_t day_of(std::int64_t wall_ms) {
  std::int64_t past = wall_ms % kDayMs;
  if (past < 0) past += kDayMs;
  return wall_ms - past;
}

}  // namespace memoir
