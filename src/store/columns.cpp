#include "store/columns.h"

namespace memoir {
namespace {

constexpr std::int64_t kNotKnown = -1;

using P = ProcessField;
using Value = std::optional<std::int64_t>;

Value sum(const ProcessMemory& values, std::initializer_list<ProcessField> parts) {
  std::int64_t total = 0;
  for (const ProcessField part : parts) {
    if (!values.has(part)) return std::nullopt;
    total += *values.get(part);
  }
  return total;
}

// A column that is left out where it is what the others make it. In an order in which each finds what it is made of.
struct Derived {
  ProcessField field;
  Value (*make)(const ProcessMemory& values, Source source);
};

constexpr std::array<Derived, 7> kDerived{{
    {P::vm_rss,
     [](const ProcessMemory& v, Source) {
       return sum(v, {P::rss_anon, P::rss_file, P::rss_shmem});
     }},
    {P::rss,
     [](const ProcessMemory& v, Source source) {
       if (source != Source::exact) return v.get(P::vm_rss);
       return sum(v, {P::shared_clean, P::shared_dirty, P::private_clean, P::private_dirty});
     }},
    {P::pss,
     [](const ProcessMemory& v, Source) {
       return sum(v, {P::pss_anon, P::pss_file, P::pss_shmem});
     }},
    {P::pss_dirty,
     [](const ProcessMemory& v, Source) {
       return sum(v, {P::pss_anon, P::pss_shmem});
     }},
    {P::anonymous, [](const ProcessMemory& v, Source) { return v.get(P::rss_anon); }},
    {P::referenced, [](const ProcessMemory& v, Source) { return v.get(P::rss); }},
    {P::vm_hwm, [](const ProcessMemory& v, Source) { return v.get(P::vm_rss); }},
}};

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
  for (const Derived& column : kDerived) {
    stored.set(column.field, pack(values.get(column.field), column.make(values, source)));
  }
  return stored;
}

ProcessMemory unpacked(const ProcessMemory& stored, Source source) {
  ProcessMemory values = stored;
  for (const Derived& column : kDerived) {
    values.set(column.field, unpack(stored.get(column.field), column.make(values, source)));
  }
  return values;
}

}  // namespace memoir
