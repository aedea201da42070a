#pragma once

// Where SQLite's exceptions end: each becomes an Error that names the file, and says how to fix it where that is known.

#include <SQLiteCpp/Exception.h>
#include <string>

#include "base/result.h"

namespace memoir {

// The file at `path` is damaged, in this way.
Error damaged(const std::string& path, const std::string& how);

Error store_error(const std::string& path, const SQLite::Exception& failure);

// Runs `action`, which returns a Result.
template <typename Action>
auto guarded(const std::string& path, Action&& action) -> decltype(action()) {
  try {
    return action();
  } catch (const SQLite::Exception& failure) {
    return store_error(path, failure);
  }
}

}  // namespace memoir
