#pragma once

// Turns exceptions into Errors that name the file, and how to fix it where that is known.

#include <exception>
#include <string>

#include "base/result.h"

namespace memoir {

// The file at `path` is damaged, in this way.
Error damaged(const std::string& path, const std::string& how);

// Of SQLite, or of any other library or our own code. `refused`: the values given to the store are at fault.
Error store_error(const std::string& path, const std::exception& failure);

// Runs `action`, which returns a Result.
template <typename Action>
auto guarded(const std::string& path, Action&& action) -> decltype(action()) {
  try {
    return action();
  } catch (const std::exception& failure) {
    return store_error(path, failure);
  }
}

}  // namespace memoir
