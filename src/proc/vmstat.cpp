#include "proc/vmstat.h"

#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr auto kVmstatKeys = key_table<kFirstVmstat, kFirstPressure - kFirstVmstat>(kMachineFields);

}  // namespace

Status parse_vmstat(std::string_view text, MachineMemory& memory, OddLines* odd) {
  return read_fields<kFirstVmstat, &KeyLine::count>(text, ' ', "vmstat", kVmstatKeys, memory, odd);
}

}  // namespace memoir
