#include "proc/pressure.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::size_t kPressureFields = kFirstShared - kFirstPressure;
constexpr std::size_t kPerLine = kPressureFields / 2;  // avg10, avg60, avg300, total: of `some`, then of `full`

// The place of "avg10" of the line "some …" in the model, whose keys read "some avg10".
std::optional<std::size_t> field_of(std::string_view kind, std::string_view name) {
  for (std::size_t i = kFirstPressure; i < kFirstShared; ++i) {
    std::string_view key = kMachineFields[i].key;
    if (cut(key, ' ') == kind && key == name) return i;
  }
  return std::nullopt;
}

bool take_pair(std::string_view kind, std::string_view pair, MachineMemory& memory) {
  const std::string_view name = cut(pair, '=');
  const auto field = field_of(kind, name);
  if (!field) return true;
  const auto value = name == "total" ? parse_natural(pair) : parse_hundredths(pair);
  if (value) memory.set(static_cast<MachineField>(*field), *value);
  return value.has_value();
}

}  // namespace

Status parse_pressure(std::string_view text, MachineMemory& memory) {
  clear_fields<kFirstPressure, kPressureFields>(memory);
  KeyLine line;
  bool any = false;
  while (next_line(text, ' ', line)) {
    if (line.key != "some" && line.key != "full") continue;
    any = true;
    bool good = !line.torn;
    std::size_t pairs = 0;
    for (std::string_view rest = line.value; good && !trim(rest).empty(); ++pairs) {
      good = take_pair(line.key, cut_word(rest), memory);
    }
    if (!good || pairs < kPerLine) {
      clear_fields<kFirstPressure, kPressureFields>(memory);
      return bad_line("pressure/memory", line.text);
    }
  }
  if (!any) return nothing_known("pressure/memory");
  return Done{};
}

}  // namespace memoir
