#pragma once

// Included by a copy of the sources to which scripts/mistakes adds deliberate mistakes. All of them are built at once,
// and the environment variable MEMOIR_MISTAKE enables one by its number.

#include <cstdlib>
#include <type_traits>

namespace memoir {

inline int mistake_made() {
  static const int number = [] {
    const char* const given = std::getenv("MEMOIR_MISTAKE");
    return given == nullptr ? 0 : std::atoi(given);
  }();
  return number;
}

constexpr bool mistake(int number) {
  return !std::is_constant_evaluated() && mistake_made() == number;
}

}  // namespace memoir
