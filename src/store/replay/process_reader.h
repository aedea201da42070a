#pragma once

// Reads processes with their names from rows of `process`. A name that many processes share is read once. At most a
// few thousand names of each kind are in memory.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

class ProcessReader {
 public:
  explicit ProcessReader(SQLite::Database& database);

  // "SELECT … FROM process AS p " + `where`
  static std::string sql(const std::string& where);

  // Number of columns of schema/queries/process_columns.sql.
  static constexpr int kColumns = 19;
  // Reads a process from a row that starts with these columns. The next row overwrites the returned value.
  const StoredProcess& read(const Statement& row);

 private:
  template <typename Name>
  class Names {
   public:
    using Read = Name (*)(const Statement& row);

    Names(SQLite::Database& database, const char* sql, Read read) : find_(database, sql), read_(read) {}

    // Returns the name in a row, valid until the next call; an empty name if there is no such row.
    const Name& of(std::int64_t id) {
      if (names_.size() >= kMaxNames && !names_.contains(id)) names_.clear();
      const auto [name, fresh] = names_.try_emplace(id);
      if (!fresh) return name->second;
      if (find_.bind(id).step()) name->second = read_(find_);
      find_.reset();  // an open statement would keep its read transaction
      return name->second;
    }

   private:
    static constexpr std::size_t kMaxNames = 4096;

    Statement find_;
    Read read_;
    std::unordered_map<std::int64_t, Name> names_;
  };

  using Pair = std::pair<std::string, std::string>;

  StoredProcess process_;  // one for all rows, to reuse the memory of its texts
  Names<std::string> boots_;
  Names<std::pair<std::uint32_t, std::string>> users_;
  Names<Pair> commands_;  // executable and arguments
  Names<std::string> directories_;
  Names<ProcessSettings> settings_;
  Names<std::string> cgroups_;
  Names<std::string> categories_;
  Names<Pair> identities_;  // unit and command
};

}  // namespace memoir
