#pragma once

// Turns exceptions into Errors that name the file, and the remedy if known.

#include <exception>
#include <string>

#include "base/result.h"

namespace memoir {

// Returns the error that the file at `path` is damaged; `how` names the damage.
Error damaged(const std::string& path, const std::string& how);

// Converts an exception from SQLite, another library or our own code. The kind is `refused` if the values to store are
// at fault.
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
