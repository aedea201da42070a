#include "proc/cmdline.h"

#include <string>

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using namespace std::string_literals;
using Arguments = std::vector<std::string_view>;

TEST_CASE("cmdline: arguments are in order, without empty ones") {
  const std::string text = test::fixture("linux-6.18/python/cmdline");
  const Arguments arguments = parse_cmdline(text);
  REQUIRE(arguments.size() == 5);
  CHECK(arguments[0] == "python3");
  CHECK(arguments[1] == "-c");
  CHECK(arguments[2].find('\n') != std::string_view::npos);
  CHECK(arguments[3] == "--spaces in it");
  CHECK(arguments[4] == "\xc3\xbcnicode");
}

TEST_CASE("cmdline: a process may have no arguments") {
  CHECK(parse_cmdline(test::fixture("linux-6.18/zombie/cmdline")).empty());
  CHECK(parse_cmdline(std::string(4096, '\0')).empty());
}

TEST_CASE("cmdline: a process may overwrite its arguments") {
  const std::string title = "nginx: worker process"s + '\0' + '\0' + '\0';
  CHECK(parse_cmdline(title) == Arguments{"nginx: worker process"});
  CHECK(parse_cmdline("no NUL at all") == Arguments{"no NUL at all"});
  CHECK(parse_cmdline("\xff\n\x1b"s + '\0' + "x") == Arguments{"\xff\n\x1b", "x"});
  const std::string blanks(128 * 1024, ' ');
  CHECK(parse_cmdline(blanks) == Arguments{blanks});
}
