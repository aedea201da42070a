#pragma once

// What the parsers of this folder share, and nobody else uses: kernel texts are lines of a key and a value, the keys in
// nearly the same order on every kernel.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/field_set.h"

namespace memoir {

// One line, cut at the first separator. Without a separator the key is the whole line.
struct KeyLine {
  std::string_view text;
  std::string_view key;
  std::string_view value;
  bool torn = false;  // the text ended before the line's newline: even a number that looks whole may miss digits

  // "    1612 kB"
  std::optional<std::int64_t> kib() const;
  // "    1612"
  std::optional<std::int64_t> count() const;
};

// Takes the next line off the front of `text`; false at its end.
inline bool next_line(std::string_view& text, char separator, KeyLine& line) {
  if (text.empty()) return false;
  const std::size_t end = text.find('\n');
  line.torn = end == std::string_view::npos;
  line.text = text.substr(0, end);
  text.remove_prefix(line.torn ? text.size() : end + 1);
  const std::size_t cut = line.text.find(separator);
  line.key = line.text.substr(0, cut);
  line.value = cut == std::string_view::npos ? std::string_view{} : line.text.substr(cut + 1);
  return true;
}

// A decimal number of digits only that fits the model's signed numbers.
std::optional<std::int64_t> parse_natural(std::string_view digits);

// "12.34" with exactly two digits after the point, in hundredths.
std::optional<std::int64_t> parse_hundredths(std::string_view text);

// Whether `text` is a process's state: one letter.
bool is_state(std::string_view text);

// The error for a line of a known key that cannot be understood, and for a text without any known key.
Error bad_line(std::string_view file, std::string_view line);
Error nothing_known(std::string_view file);

// The keys that a parser knows, in the kernel's order, made at compile time.
template <std::size_t N>
class KeyTable {
 public:
  constexpr explicit KeyTable(const std::array<std::string_view, N>& keys) : keys_(keys) {
    for (const std::string_view key : keys_) known_[hash(key)] = true;
  }

  constexpr std::string_view operator[](std::size_t index) const { return keys_[index]; }
  // False for most keys that are not in the table: a line that does not matter costs no search.
  constexpr bool may_have(std::string_view key) const { return known_[hash(key)]; }

 private:
  static constexpr std::uint8_t hash(std::string_view key) {
    if (key.empty()) return 0;
    return static_cast<std::uint8_t>(key.size() * 37U + static_cast<unsigned char>(key.front()) * 7U +
                                     static_cast<unsigned char>(key.back()));
  }

  std::array<std::string_view, N> keys_;
  std::array<bool, 256> known_{};
};

// A table of the keys of `names` from `First` on.
template <std::size_t First, std::size_t Count, typename Info, std::size_t All>
constexpr KeyTable<Count> key_table(const std::array<Info, All>& names) {
  static_assert(First + Count <= All);
  std::array<std::string_view, Count> keys;
  for (std::size_t i = 0; i < Count; ++i) keys[i] = names[First + i].key;
  return KeyTable<Count>(keys);
}

// Finds keys in a table, beginning behind the one found last: in a text that follows the table's order each is found
// at the first look.
template <std::size_t N>
class KeyCursor {
 public:
  explicit KeyCursor(const KeyTable<N>& table) : table_(table) {}

  std::optional<std::size_t> find(std::string_view key) {
    if (!table_.may_have(key)) return std::nullopt;
    std::size_t index = next_;
    for (std::size_t looked = 0; looked < N; ++looked) {
      if (index == N) index = 0;
      if (table_[index] == key) {
        next_ = index + 1;
        return index;
      }
      ++index;
    }
    return std::nullopt;
  }

  // What was found last.
  std::size_t last() const { return next_ - 1; }
  // Where it looks first.
  std::size_t next() const { return next_ == N ? 0 : next_; }
  // That one is found.
  void pass() { next_ = next() + 1; }

 private:
  const KeyTable<N>& table_;
  std::size_t next_ = 0;
};

// Makes the fields from `First` on, `Count` of them, absent.
template <std::size_t First, std::size_t Count, typename E>
void clear_fields(FieldSet<E>& fields) {
  for (std::size_t i = First; i < First + Count; ++i) fields.clear(static_cast<E>(i));
}

// Sets the fields from `First` on, which are those of the table, each to the value of its line: KeyLine::kib() or
// count(). Those without a line become absent, and so do all on an error. `file`: for messages.
template <std::size_t First, auto Value, std::size_t Count, typename E>
Status read_fields(std::string_view text, char separator, std::string_view file, const KeyTable<Count>& table,
                   FieldSet<E>& fields) {
  clear_fields<First, Count>(fields);
  KeyCursor cursor(table);
  KeyLine line;
  bool any = false;
  while (next_line(text, separator, line)) {
    const auto index = cursor.find(line.key);
    if (!index) continue;
    const std::optional<std::int64_t> value = (line.*Value)();
    if (!value) {
      clear_fields<First, Count>(fields);
      return bad_line(file, line.text);
    }
    fields.set(static_cast<E>(First + *index), *value);
    any = true;
  }
  if (!any) return nothing_known(file);
  return Done{};
}

}  // namespace memoir
