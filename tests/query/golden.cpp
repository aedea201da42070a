#include "query/golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.h"
#include "support/slurp.h"

namespace memoir::test {
namespace {

// Sets a UTF-8 locale, because charts are ASCII in other locales, and the golden answers are the same on any machine.
[[maybe_unused]] const bool in_utf8 = setenv("LC_ALL", "C.UTF-8", 1) == 0;

}  // namespace

void compare_with_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(MEMOIR_SOURCE) + "/tests/query/golden/" + name;
  if (std::getenv("MEMOIR_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  REQUIRE(std::filesystem::exists(path));
  CHECK(text == slurp(path));
}

}  // namespace memoir::test
