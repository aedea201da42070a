#include "store/rows/columns.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::int64_t kNotKnown = -1;

using P = ProcessField;
using Value = std::optional<std::int64_t>;

// A column that is left out where it is what the others make it. In an order in which each finds what it is made of.
struct Derived {
  ProcessField field;
  std::initializer_list<ProcessField> parts;
  Value (*make)(const ProcessMemory& values, Source source);
};

constexpr std::initializer_list<ProcessField> kVmRssParts{P::rss_anon, P::rss_file, P::rss_shmem};
constexpr std::initializer_list<ProcessField> kRssParts{P::shared_clean, P::shared_dirty, P::private_clean,
                                                        P::private_dirty};
constexpr std::initializer_list<ProcessField> kRssSources{P::vm_rss, P::shared_clean, P::shared_dirty, P::private_clean,
                                                          P::private_dirty};
constexpr std::initializer_list<ProcessField> kPssParts{P::pss_anon, P::pss_file, P::pss_shmem};
constexpr std::initializer_list<ProcessField> kPssDirtyParts{P::pss_anon, P::pss_shmem};
constexpr std::initializer_list<ProcessField> kAnonymousParts{P::rss_anon};
constexpr std::initializer_list<ProcessField> kReferencedParts{P::rss};
constexpr std::initializer_list<ProcessField> kVmHwmParts{P::vm_rss};
constexpr std::initializer_list<ProcessField> kPssAnonParts{P::pss_file, P::rss_anon};
constexpr std::initializer_list<ProcessField> kPrivateCleanParts{P::shared_clean, P::rss_file};
constexpr std::initializer_list<ProcessField> kPrivateDirtyParts{P::shared_dirty, P::rss_anon, P::rss_shmem};

// What sizes that status tells are without a part that smaps_rollup tells. Absent where the kernel does not tell the
// part: it tells all of them or none.
Value rest(const ProcessMemory& values, std::initializer_list<ProcessField> sizes, ProcessField part) {
  const Value all = sum_of_fields(values, sizes);
  const Value taken = values.get(part);
  const bool fits = all && taken && *all >= *taken && *all <= Statement::kMost;
  return fits ? Value(*all - *taken) : std::nullopt;
}

constexpr std::array<Derived, 10> kDerived{{
    {P::pss_anon, kPssAnonParts,
     [](const ProcessMemory& v, Source) { return v.has(P::pss_file) ? v.get(P::rss_anon) : std::nullopt; }},
    {P::private_clean, kPrivateCleanParts,
     [](const ProcessMemory& v, Source) { return rest(v, {P::rss_file}, P::shared_clean); }},
    {P::private_dirty, kPrivateDirtyParts,
     [](const ProcessMemory& v, Source) {
       return rest(v, {P::rss_anon, P::rss_shmem}, P::shared_dirty);
     }},
    {P::vm_rss, kVmRssParts, [](const ProcessMemory& v, Source) { return sum_of_fields(v, kVmRssParts); }},
    {P::rss, kRssSources,
     [](const ProcessMemory& v, Source source) {
       return source == Source::exact ? sum_of_fields(v, kRssParts) : v.get(P::vm_rss);
     }},
    {P::pss, kPssParts, [](const ProcessMemory& v, Source) { return sum_of_fields(v, kPssParts); }},
    {P::pss_dirty, kPssDirtyParts, [](const ProcessMemory& v, Source) { return sum_of_fields(v, kPssDirtyParts); }},
    {P::anonymous, kAnonymousParts, [](const ProcessMemory& v, Source) { return v.get(P::rss_anon); }},
    {P::referenced, kReferencedParts, [](const ProcessMemory& v, Source) { return v.get(P::rss); }},
    {P::vm_hwm, kVmHwmParts, [](const ProcessMemory& v, Source) { return v.get(P::vm_rss); }},
}};

void unpack(const Derived& column, ProcessMemory& values, Source source) {
  values.set(column.field, unpacked_column(values.get(column.field), column.make(values, source)));
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

std::optional<std::int64_t> sum_of_fields(const ProcessMemory& values, std::initializer_list<ProcessField> parts) {
  std::int64_t total = 0;
  for (const ProcessField part : parts) {
    const Value value = values.get(part);
    if (!value || __builtin_add_overflow(total, *value, &total)) return std::nullopt;
  }
  return total;
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
  // VmSwap stands in for the swap of smaps_rollup where that is not read.
  const bool of_rollup = field < P::vm_peak && field != P::swap;
  return memory.has(of_rollup ? P::anon_huge_pages : P::vm_size) ? Value(0) : std::nullopt;
}

ProcessMemory packed(const ProcessMemory& values, Source source) {
  ProcessMemory stored = values;
  for (const Derived& column : kDerived) {
    stored.set(column.field, packed_column(values.get(column.field), column.make(values, source)));
  }
  return stored;
}

ProcessMemory unpacked(const ProcessMemory& stored, Source source) {
  ProcessMemory values = stored;
  for (const Derived& column : kDerived) unpack(column, values, source);
  return values;
}

Unpacker::Unpacker(std::span<const ProcessField> fields) : columns_(fields.begin(), fields.end()) {
  const auto reads = [this](ProcessField field) { return std::ranges::find(columns_, field) != columns_.end(); };
  // Backwards: what a field is made of may be made of others.
  for (std::size_t i = kDerived.size(); i-- > 0;) {
    if (!reads(kDerived[i].field)) continue;
    derived_.insert(derived_.begin(), i);
    for (const ProcessField part : kDerived[i].parts) {
      if (!reads(part)) columns_.push_back(part);
    }
  }
}

void Unpacker::unpack(ProcessMemory& values, Source source) const {
  for (const std::size_t i : derived_) memoir::unpack(kDerived[i], values, source);
}

}  // namespace memoir
