#include "store/columns.h"

namespace memoir {
namespace {

constexpr std::int64_t kNotKnown = -1;

using Value = std::optional<std::int64_t>;

Value sum(const ProcessMemory& values, std::initializer_list<ProcessField> parts) {
  std::int64_t total = 0;
  for (const ProcessField part : parts) {
    if (!values.has(part)) return std::nullopt;
    total += *values.get(part);
  }
  return total;
}

Value derived_vm_rss(const ProcessMemory& values) {
  return sum(values, {ProcessField::rss_anon, ProcessField::rss_file, ProcessField::rss_shmem});
}

// `values` has its vm_rss.
Value derived_rss(const ProcessMemory& values, Source source) {
  if (source != Source::exact) return values.get(ProcessField::vm_rss);
  return sum(values, {ProcessField::shared_clean, ProcessField::shared_dirty, ProcessField::private_clean,
                      ProcessField::private_dirty});
}

Value pack(Value value, Value derived) {
  if (value == derived) return std::nullopt;
  return value.value_or(kNotKnown);
}

Value unpack(Value stored, Value derived) {
  if (!stored) return derived;
  return *stored == kNotKnown ? std::nullopt : stored;
}

template <typename E, std::size_t N>
std::string list(std::span<const E> fields, const std::array<FieldName, N>& names, const std::string& prefix) {
  std::string text;
  for (const E field : fields) {
    if (!text.empty()) text += ", ";
    text += prefix + names[static_cast<std::size_t>(field)].column;
  }
  return text;
}

}  // namespace

std::string column_list(std::span<const ProcessField> fields, const std::string& prefix) {
  return list(fields, kProcessFields, prefix);
}

std::string column_list(std::span<const MachineField> fields, const std::string& prefix) {
  return list(fields, kMachineFields, prefix);
}

std::string placeholders(std::size_t count) {
  std::string text = "?";
  for (std::size_t i = 1; i < count; ++i) text += ", ?";
  return text;
}

ProcessMemory packed(const ProcessMemory& values, Source source) {
  ProcessMemory stored = values;
  stored.set(ProcessField::vm_rss, pack(values.get(ProcessField::vm_rss), derived_vm_rss(values)));
  stored.set(ProcessField::rss, pack(values.get(ProcessField::rss), derived_rss(values, source)));
  return stored;
}

ProcessMemory unpacked(const ProcessMemory& stored, Source source) {
  ProcessMemory values = stored;
  values.set(ProcessField::vm_rss, unpack(stored.get(ProcessField::vm_rss), derived_vm_rss(stored)));
  values.set(ProcessField::rss, unpack(stored.get(ProcessField::rss), derived_rss(values, source)));
  return values;
}

}  // namespace memoir
