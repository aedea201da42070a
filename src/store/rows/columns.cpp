#include "store/rows/columns.h"

#include <algorithm>

namespace memoir {
namespace {

using Value = std::optional<std::int64_t>;

// Number of derived fields of process_sample, which come first in kDerivedFields. The view process_detail unpacks the
// derived fields of process_state.
constexpr std::size_t kHotDerived = static_cast<std::size_t>(std::ranges::count(
    kDerivedFields, ProcessStorage::sample, [](const DerivedField& of) { return info_of(of.field).storage; }));
static_assert(info_of(kDerivedFields[kHotDerived - 1].field).storage == ProcessStorage::sample);

Value derived_value(const DerivedField& of, const ProcessMemory& values, Source source) {
  return value_of(of.when_exact && source == Source::exact ? *of.when_exact : of.rule, values);
}

void unpack(const DerivedField& of, ProcessMemory& values, Source source) {
  values.set(of.field, unpacked_column(values.get(of.field), derived_value(of, values, source)));
}

template <typename E, typename Names>
std::string list(std::span<const E> fields, const Names& names, const std::string& prefix) {
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

std::optional<std::int64_t> packed_column(std::optional<std::int64_t> value, std::optional<std::int64_t> derived) {
  if (value == derived) return std::nullopt;
  return value.value_or(kNotKnown);
}

std::optional<std::int64_t> unpacked_column(std::optional<std::int64_t> stored, std::optional<std::int64_t> derived) {
  if (!stored) return derived;
  return *stored == kNotKnown ? std::nullopt : stored;
}

std::optional<std::int64_t> usual_value(const ProcessMemory& memory, ProcessField field) {
  return memory.has(known_by(field)) ? Value(0) : std::nullopt;
}

ProcessMemory packed(const ProcessMemory& values, Source source) {
  ProcessMemory stored = values;
  for (const DerivedField& of : kDerivedFields)
    stored.set(of.field, packed_column(values.get(of.field), derived_value(of, values, source)));
  return stored;
}

ProcessMemory unpacked(const ProcessMemory& stored, Source source) {
  ProcessMemory values = stored;
  for (std::size_t i = 0; i < kHotDerived; ++i) unpack(kDerivedFields[i], values, source);
  return values;
}

Unpacker::Unpacker(std::span<const ProcessField> fields) : columns_(fields.begin(), fields.end()) {
  const auto reads = [this](ProcessField field) { return std::ranges::find(columns_, field) != columns_.end(); };
  // Goes backwards, because a field that another one needs may itself need others.
  for (std::size_t i = kHotDerived; i-- > 0;) {
    if (!reads(kDerivedFields[i].field)) continue;
    derived_.insert(derived_.begin(), i);
    for (const ProcessFieldInfo& part : kProcessFields) {
      if (kDerivedFields[i].needs(part.field) && !reads(part.field)) columns_.push_back(part.field);
    }
  }
}

void Unpacker::unpack(ProcessMemory& values, Source source) const {
  for (const std::size_t i : derived_) memoir::unpack(kDerivedFields[i], values, source);
}

}  // namespace memoir
