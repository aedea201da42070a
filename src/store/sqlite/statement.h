#pragma once

// A prepared statement, used many times. SQLiteCpp's columns are reference-counted objects; this class reads a column
// directly. On top of SQLiteCpp's statement, a scan of rows with 8 columns would take 19 % more instructions
// (callgrind: 3,850 per row instead of 3,230), and a look-up of one row 3 % more. The class also checks the range of
// values, binds string_view and optional, and resets itself after an error. Errors are SQLite::Exception.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace SQLite {
class Database;
}

namespace memoir {

class Statement {
  template <typename Read>
  using Made = std::remove_cvref_t<std::invoke_result_t<const Read&, const Statement&>>;

 public:
  Statement(SQLite::Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds from the first parameter on, replacing earlier bindings. Text must live until the statement is reset.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    reset();
    (add(values), ...);
    return *this;
  }
  // Binds the next parameter.
  template <std::integral Int>
  void add(Int value) {
    add_integer(static_cast<std::int64_t>(value));
  }
  void add(std::optional<std::int64_t> value);
  void add(std::string_view text);
  // An absent text is NULL. (A template, to avoid implicit conversions.)
  template <std::same_as<std::optional<std::string_view>> Text>
  void add(const Text& text) {
    if (text) return add(*text);
    add(std::optional<std::int64_t>());
  }

  // Advances to the next row. Returns false at the end, where the statement is reset.
  bool step();
  // Advances to the end.
  void finish();
  template <typename... Values>
  void run(const Values&... values) {
    bind(values...);
    finish();
  }
  // Runs an INSERT and returns the id of its row.
  template <typename... Values>
  std::int64_t insert(const Values&... values) {
    run(values...);
    return last_id();
  }
  // Id of the last inserted row.
  std::int64_t last_id() const;
  // Returns the first column of the first row; nullopt without a row, or if it is NULL.
  template <typename... Values>
  std::optional<std::int64_t> one(const Values&... values) {
    const auto found = bind(values...).step() ? maybe(0) : std::nullopt;
    reset();
    return found;
  }
  // Returns the result of `read` for the first row; nullopt without a row.
  template <typename Read, typename... Values>
  std::optional<Made<Read>> first(const Read& read, const Values&... values) {
    auto made = bind(values...).step() ? std::optional<Made<Read>>(read(*this)) : std::nullopt;
    reset();
    return made;
  }
  // Returns the first column of the first row as text; empty without a row.
  template <typename... Values>
  std::string one_text(const Values&... values) {
    return first([](const Statement& row) { return row.text(0); }, values...).value_or("");
  }
  // Returns the results of `read` for all rows.
  template <typename Read, typename... Values>
  std::vector<Made<Read>> every(const Read& read, const Values&... values) {
    bind(values...);
    std::vector<Made<Read>> made;
    while (step()) made.push_back(read(*this));
    return made;
  }
  void reset();

  // A file may be foreign, and computations with its numbers must stay in range. A number beyond kMost is an error: no
  // kernel counts that far (2^64 bytes are 2^54 KiB), and the sum of a few such numbers does not overflow.
  static constexpr std::int64_t kMost = std::int64_t{1} << 61;
  std::int64_t integer(int column) const;
  // Returns nullopt for NULL, for which integer() returns 0. Inline, because returning an optional through the stack
  // took a tenth of the time of a long query.
  std::optional<std::int64_t> maybe(int column) const {
    const std::int64_t value = integer(column);
    return value == 0 && is_null(column) ? std::nullopt : std::optional(value);
  }
  // Returns a number that must be within bounds, such as an index; any other value is an error.
  std::int64_t within(int column, std::int64_t least, std::int64_t most) const;
  // The file may be crafted, so longer texts are truncated. memoird stores command lines of at most kMaxTextBytes, and
  // paths of at most kMaxNameBytes.
  static constexpr std::size_t kMaxTextBytes = 160 << 10U;
  static constexpr std::size_t kMaxNameBytes = 4'352;
  std::string text(int column, std::size_t max_bytes = kMaxTextBytes) const;
  std::string name(int column) const { return text(column, kMaxNameBytes); }

 private:
  void add_integer(std::int64_t value);
  bool is_null(int column) const;
  void check(int code);

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

// The following do the same for a statement that is used once.
template <typename... Values>
std::optional<std::int64_t> one(SQLite::Database& database, std::string_view sql, const Values&... values) {
  return Statement(database, sql).one(values...);
}
template <typename Read, typename... Values>
auto every(SQLite::Database& database, std::string_view sql, const Read& read, const Values&... values) {
  return Statement(database, sql).every(read, values...);
}

// A transaction that is rolled back when it goes out of scope without a commit.
class Transaction {
 public:
  // A writer takes the write lock immediately, so that it cannot fail halfway because of another writer.
  enum class Kind { read, write };

  Transaction(SQLite::Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  SQLite::Database& database_;
};

}  // namespace memoir
