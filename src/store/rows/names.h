#pragma once

// The rows of names, each stored once.

#include <cstdint>

#include "store/sqlite/statement.h"

namespace memoir {

class Names {
 public:
  // `find` and `insert` take the same parameters.
  Names(SQLite::Database& database, const char* find, const char* insert)
      : find_(database, find), insert_(database, insert) {}

  template <typename... Values>
  std::int64_t id(const Values&... values) {
    const auto found = find_.one(values...);
    return found ? *found : insert_.insert(values...);
  }
  // Like id(), for names with the times of the first and last observation, which are two more parameters of `insert`.
  template <typename... Values>
  std::int64_t id_seen(std::int64_t at_ms, const Values&... values) {
    const auto found = find_.one(values...);
    return found ? *found : insert_.insert(values..., at_ms, at_ms);
  }

 private:
  Statement find_;
  Statement insert_;
};

}  // namespace memoir
