#pragma once

// Shared by the parsers of this folder. Kernel texts are lines of a key and a value, with the keys in nearly the same
// order on every kernel. `odd` records lines that could not be parsed; nullptr records none. An odd line affects only
// its own value.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "model/field_set.h"
#include "model/odd_lines.h"

namespace memoir {

// One line, split at the first separator. Without a separator the key is the full line.
struct KeyLine {
  std::string_view text;
  std::string_view key;
  std::string_view value;
  bool torn = false;  // the text ended before the line's newline: even a plausible number may lack digits

  // Parses a value such as "    1612 kB"; nullopt if it has another form or the line is torn.
  std::optional<std::int64_t> kib() const;
  // Parses a value such as "    1612"; nullopt if it has another form or the line is torn.
  std::optional<std::int64_t> count() const;
};

// Removes the next line from the front of `text`; returns false at its end.
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

// Parses a number of decimal digits only; nullopt if it does not fit into an std::int64_t.
std::optional<std::int64_t> parse_natural(std::string_view digits);

// Parses "12.34", with exactly two digits after the point, to hundredths (1234).
std::optional<std::int64_t> parse_hundredths(std::string_view text);

// Returns whether `text` is a process's state: one letter.
bool is_state(std::string_view text);

// bad_line() is the error for an odd line that makes the whole text useless, nothing_known() for a text without known
// lines.
Error bad_line(std::string_view file, std::string_view line);
Error nothing_known(std::string_view file);

// The keys of a parser, in the kernel's order, built at compile time.
template <std::size_t N>
class KeyTable {
 public:
  constexpr explicit KeyTable(const std::array<std::string_view, N>& keys) : keys_(keys) {
    for (const std::string_view key : keys_) known_[hash(key)] = true;
  }

  constexpr std::string_view operator[](std::size_t index) const { return keys_[index]; }
  // Returns false for most keys that are not in the table, so that an irrelevant line costs no search.
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

// Makes a table of `Count` keys of `names`, starting at index `First`.
template <std::size_t First, std::size_t Count, typename Info, std::size_t All>
constexpr KeyTable<Count> key_table(const std::array<Info, All>& names) {
  static_assert(First + Count <= All);
  std::array<std::string_view, Count> keys;
  for (std::size_t i = 0; i < Count; ++i) keys[i] = names[First + i].key;
  return KeyTable<Count>(keys);
}

// Finds keys in a table, starting after the last one found. If the text is in the order of the table, each search takes
// one comparison.
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

  // Index of the last key found.
  std::size_t last() const { return next_ - 1; }
  // Index where the search starts.
  std::size_t next() const { return next_ == N ? 0 : next_; }
  // Marks the key at next() as found.
  void pass() { next_ = next() + 1; }

 private:
  const KeyTable<N>& table_;
  std::size_t next_ = 0;
};

// Clears `Count` fields, starting at index `First`.
template <std::size_t First, std::size_t Count, typename E>
void clear_fields(FieldSet<E>& fields) {
  for (std::size_t i = First; i < First + Count; ++i) fields.clear(static_cast<E>(i));
}

// Collects the values of a text's lines, one per key. A line that is odd or repeats a key has no value and is noted.
template <std::size_t Count>
class LineValues {
 public:
  LineValues(std::string_view file, OddLines* odd) : file_(file), odd_(odd) {}

  std::optional<std::int64_t> take(std::size_t index, const KeyLine& line, std::optional<std::int64_t> value) {
    const bool again = std::exchange(seen_[index], true);
    const bool good = value && !again;
    known_ += (good ? 1 : 0) - (has_[index] ? 1 : 0);
    has_[index] = good;
    if (good) return value;
    if (odd_ != nullptr) odd_->note(file_, line.key, line.text);
    return std::nullopt;
  }
  bool seen(std::size_t index) const { return seen_[index]; }
  // Returns whether some key has a value.
  bool any() const { return known_ > 0; }
  // Notes a problem if `key`, which every kernel prints, has no line.
  void need(std::size_t index, std::string_view key) {
    if (!seen_[index] && odd_ != nullptr) odd_->note_problem(file_, key, "has no " + std::string(key));
  }

 private:
  std::string_view file_;
  OddLines* odd_;
  int known_ = 0;  // number of keys with a value
  std::array<bool, Count> seen_{};
  std::array<bool, Count> has_{};
};

// Sets the fields of a table, which start at index `First`, each to the value of its line (KeyLine::kib() or count()).
// A field without a line, or with an odd one, becomes absent. Absent `needed` lines are noted as a problem of `file`. A
// text without any value is malformed.
template <std::size_t First, auto Value, std::size_t Count, typename E>
Status read_fields(std::string_view text, char separator, std::string_view file, const KeyTable<Count>& table,
                   FieldSet<E>& fields, OddLines* odd, std::initializer_list<E> needed = {}) {
  clear_fields<First, Count>(fields);
  KeyCursor cursor(table);
  LineValues<Count> values(file, odd);
  KeyLine line;
  while (next_line(text, separator, line)) {
    const auto index = cursor.find(line.key);
    if (index) fields.set(static_cast<E>(First + *index), values.take(*index, line, (line.*Value)()));
  }
  if (!values.any()) return nothing_known(file);
  for (const E field : needed) {
    const std::size_t index = static_cast<std::size_t>(field) - First;
    values.need(index, table[index]);
  }
  return Done{};
}

}  // namespace memoir
