#include "model/machine.h"

namespace memoir {
namespace {

std::optional<std::int64_t> difference(const MachineMemory& memory, MachineField whole, MachineField part) {
  const auto a = memory.get(whole);
  const auto b = memory.get(part);
  if (!a || !b) return std::nullopt;
  return *a - *b;
}

}  // namespace

std::optional<std::int64_t> used_kib(const MachineMemory& memory) {
  return difference(memory, MachineField::mem_total, MachineField::mem_available);
}

std::optional<std::int64_t> swap_used_kib(const MachineMemory& memory) {
  return difference(memory, MachineField::swap_total, MachineField::swap_free);
}

}  // namespace memoir
