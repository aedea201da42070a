#pragma once

// Catch2 in the system's version: 2 (one header) or 3.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
namespace memoir::test {
using Catch::Matchers::ContainsSubstring;
}
#else
#include <catch2/catch.hpp>
namespace memoir::test {
// The name is that of Catch2 3, where Contains() is for ranges.
inline auto ContainsSubstring(const std::string& text) {  // NOLINT(readability-identifier-naming)
  return Catch::Matchers::Contains(text);
}
}  // namespace memoir::test
#endif

// For long loops, because Catch is slow to record each passing REQUIRE.
#define REQUIRE_OF_MANY(...)                    \
  do {                                          \
    if (!(__VA_ARGS__)) REQUIRE((__VA_ARGS__)); \
  } while (false)
