#include "proc/pressure.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::size_t kPressureFields = kFirstShared - kFirstPressure;

// Returns the index of the field whose key is `kind` and `name`, such as "some avg10"; nullopt if there is none.
std::optional<std::size_t> field_of(std::string_view kind, std::string_view name) {
  for (std::size_t i = kFirstPressure; i < kFirstShared; ++i) {
    std::string_view key = kMachineFields[i].key;
    if (cut(key, ' ') == kind && key == name) return i;
  }
  return std::nullopt;
}

}  // namespace

Status parse_pressure(std::string_view text, MachineMemory& memory, OddLines* odd) {
  clear_fields<kFirstPressure, kPressureFields>(memory);
  LineValues<kPressureFields> values("pressure/memory", odd);
  KeyLine line;
  bool any = false;
  while (next_line(text, ' ', line)) {
    for (std::string_view rest = line.value; !trim(rest).empty();) {
      std::string_view pair = cut_word(rest);
      const bool torn = line.torn && rest.empty();
      const std::string_view name = cut(pair, '=');
      const auto field = field_of(line.key, name);
      if (!field) continue;
      const auto value = torn ? std::nullopt : name == "total" ? parse_natural(pair) : parse_hundredths(pair);
      memory.set(static_cast<MachineField>(*field), values.take(*field - kFirstPressure, line, value));
      any = any || memory.has(static_cast<MachineField>(*field));
    }
  }
  if (!any) return nothing_known("pressure/memory");
  return Done{};
}

}  // namespace memoir
