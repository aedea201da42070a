#pragma once

// Processes with their names, from rows of `process`. A name is read once, however many processes have it.

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

  // How many columns schema/queries/process_columns.sql has.
  static constexpr int kColumns = 18;
  // From a row that begins with them. What is returned is overwritten by the next row.
  const StoredProcess& read(const Statement& row);

 private:
  template <typename Name>
  class Names {
   public:
    using Read = Name (*)(const Statement& row);

    Names(SQLite::Database& database, const char* sql, Read read) : find_(database, sql), read_(read) {}

    // Empty where there is no such row.
    const Name& of(std::int64_t id) {
      const auto [name, fresh] = names_.try_emplace(id);
      if (fresh && find_.bind(id).step()) name->second = read_(find_);
      return name->second;
    }

   private:
    Statement find_;
    Read read_;
    std::unordered_map<std::int64_t, Name> names_;
  };

  using Pair = std::pair<std::string, std::string>;

  StoredProcess process_;  // one for all, with the room of its texts
  Names<std::string> boots_;
  Names<std::pair<std::uint32_t, std::string>> users_;
  Names<Pair> commands_;  // executable and arguments
  Names<std::string> directories_;
  Names<std::string> cgroups_;
  Names<std::string> categories_;
  Names<Pair> identities_;  // unit and command
};

}  // namespace memoir
