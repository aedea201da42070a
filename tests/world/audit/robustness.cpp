// Odd lines in the kernel's files.

#include <algorithm>

#include "world/audit/laws.h"

namespace memoir::world {

void check_tick(Audit& audit, const Result<Tick>& tick, const TickTruth& truth) {
  if (!truth.odd) return;
  const OddLine& odd = *truth.odd;
  audit.check("tick", tick.ok(), "{} {} {}: {}", odd.file, odd.key, odd.value, tick.ok() ? "" : tick.error().message);
  if (!tick) return;
  for (const MachineFieldInfo& info : kMachineFields) {
    const auto expected = truth.meminfo.find(info.key);
    if (expected == truth.meminfo.end() || (odd.file == "meminfo" && odd.key == info.key)) continue;
    const auto value = tick->machine.memory.get(info.field);
    audit.check(odd.file, value == expected->second, "{} {}: {} is {}", odd.key, odd.value, info.key,
                value ? std::to_string(*value) : "unknown");
  }
  for (const auto& process : truth.processes) {
    const auto& serial = process.first;
    const auto& sample = process.second;
    const auto found =
        std::ranges::find_if(tick->processes, [&](const ProcessSample& s) { return s.key.pid == sample.pid; });
    audit.check(odd.file, found != tick->processes.end(), "{} {}: no process {}", odd.key, odd.value, sample.pid);
    if (found == tick->processes.end()) continue;
    for (std::size_t i = 0; i < kRollupFields + kStatusFields; ++i) {
      const ProcessFieldInfo& info = kProcessFields[i];
      const bool is_status = info.file == ProcessFile::status;
      if (serial == odd.serial && odd.key == info.key) continue;
      if (!is_status && (found->source != Source::exact || serial != odd.serial)) continue;  // the file was not read
      audit.check(odd.file, found->memory.get(info.field) == sample.memory.get(info.field),
                  "{} {}: {} of process {} is {}, truly {}", odd.key, odd.value, info.key, sample.pid,
                  found->memory.or_zero(info.field), sample.memory.or_zero(info.field));
    }
  }
}

}  // namespace memoir::world
