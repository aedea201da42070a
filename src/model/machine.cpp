#include "model/machine.h"

#include "model/field_rule.h"

namespace memoir {

std::optional<std::int64_t> used_kib(const MachineMemory& memory) {
  return value_of(kUsedRule, memory);
}

std::optional<std::int64_t> swap_used_kib(const MachineMemory& memory) {
  return value_of(kSwapUsedRule, memory);
}

}  // namespace memoir
