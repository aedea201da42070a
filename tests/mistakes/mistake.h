#pragma once

// Included by the copy of the sources into which scripts/mistakes writes its mistakes: all are built at once, and
// MEMOIR_MISTAKE enables one by number.

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
