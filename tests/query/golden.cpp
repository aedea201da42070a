#include "query/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/catch.h"

namespace memoir::test {

void compare_with_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(MEMOIR_SOURCE) + "/tests/query/golden/" + name;
  if (std::getenv("MEMOIR_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  std::ostringstream golden;
  golden << in.rdbuf();
  CHECK(text == golden.str());
}

}  // namespace memoir::test
