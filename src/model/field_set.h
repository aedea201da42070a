#pragma once

// A fixed set of numbers, each of which may be absent. A value that the kernel did not print, or that could not be
// read, is absent and never 0. The enum E names the numbers; its last enumerator is count_. The set is a flat array, so
// that copying and comparing a tick's values is cheap.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace memoir {

template <typename E>
class FieldSet {
 public:
  static constexpr std::size_t kCount = static_cast<std::size_t>(E::count_);

  FieldSet() { values_.fill(kAbsent); }

  std::optional<std::int64_t> get(E field) const {
    const std::int64_t value = values_[static_cast<std::size_t>(field)];
    return value == kAbsent ? std::nullopt : std::optional(value);
  }
  bool has(E field) const { return values_[static_cast<std::size_t>(field)] != kAbsent; }
  // Returns the value, or 0 if it is absent.
  std::int64_t or_zero(E field) const { return get(field).value_or(0); }

  void set(E field, std::int64_t value) { values_[static_cast<std::size_t>(field)] = value; }
  void set(E field, std::optional<std::int64_t> value) { set(field, value.value_or(kAbsent)); }
  // Adds two numbers, saturating at the largest number; an absent value adds nothing.
  void add(E field, const FieldSet& other) {
    if (!other.has(field)) return;
    std::int64_t sum = 0;
    const bool over = __builtin_add_overflow(or_zero(field), other.or_zero(field), &sum);
    set(field, over ? std::numeric_limits<std::int64_t>::max() : sum);
  }
  void clear(E field) { set(field, kAbsent); }

  // Compares `count` fields from `first` on.
  bool same_part(const FieldSet& other, E first, std::size_t count) const {
    const auto* const begin = values_.data() + static_cast<std::size_t>(first);
    return std::equal(begin, begin + count, other.values_.data() + static_cast<std::size_t>(first));
  }
  void copy_part(const FieldSet& other, E first, std::size_t count) {
    const auto* const begin = other.values_.data() + static_cast<std::size_t>(first);
    std::copy(begin, begin + count, values_.data() + static_cast<std::size_t>(first));
  }

  bool operator==(const FieldSet&) const = default;

 private:
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();
  std::array<std::int64_t, kCount> values_;
};

// Origin and name of a field: `key` in the kernel's format, `column` in the store and JSON.
struct FieldName {
  const char* key;
  const char* column;
};

// A list of fields is a macro of lines FIELD(name, key, column, …). It generates the enum and the table of infos. Each
// info has its FieldName, its `field`, and its kernel `file`.
#define MEMOIR_ENUMERATOR(name, ...) name,

constexpr bool has_suffix(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix);
}

// Checks that each enumerator is at its index, and that the fields of one kernel file are adjacent.
template <typename Info, std::size_t N, typename File>
constexpr bool is_field_list(const std::array<Info, N>& infos, File Info::*file) {
  for (std::size_t i = 0; i < N; ++i) {
    if (static_cast<std::size_t>(infos[i].field) != i) return false;
    if (i > 0 && infos[i].*file < infos[i - 1].*file) return false;
  }
  return true;
}

// Index of the first field of `file`.
template <typename Info, std::size_t N, typename File>
constexpr std::size_t first_of(const std::array<Info, N>& infos, File file) {
  std::size_t place = 0;
  while (place < N && infos[place].file != file) ++place;
  return place;
}

// The fields with infos that `takes` accepts, in order. `Takes` has no state.
template <const auto& infos, typename Takes>
constexpr auto fields_with(Takes takes) {
  constexpr auto count = static_cast<std::size_t>(std::ranges::count_if(infos, Takes{}));
  std::array<decltype(infos[0].field), count> fields{};
  std::size_t found = 0;
  for (const auto& info : infos) {
    if (takes(info)) fields[found++] = info.field;
  }
  return fields;
}

}  // namespace memoir
