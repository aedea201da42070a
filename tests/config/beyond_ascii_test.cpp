// Letters beyond ASCII: valid in strings and comments, refused anywhere else with the line. toml++ treats some of them
// as spaces after a value, a name or a line.

#include "config/config.h"
#include "support/catch.h"

using namespace memoir;

TEST_CASE("a letter beyond ASCII outside of quotes is refused with its line") {
  for (const char* toml : {"[recorder]\nbüro = 1\n", "[recorder]\ninterval = ü\n", "# ü\nſ", "a = \"ü\"ü\n# 2",
                           "\na\xff = 1", "a = '''\n''' ü", "\na = \"\nü\"", "\na = \"x\\\"\nü\"", "\na = \"\" ''\nü",
                           "\na = 6\"ü", "\na = \"\"\"\\\xef\xbb\x9f\"\"\"", "\na = -0.'ü'", "\na = [\"6\", 6=\"ü\"]",
                           "\na = 1979-05-27 07:32\"ü\"", "a = [\"\"\"\n\"\"\"\" , ü]", "a = '''\n''''' ü"}) {
    CAPTURE(toml);
    const auto parsed = parse_config(toml, "F");
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::malformed);
    const std::string line = std::string_view(toml).starts_with("a = \"ü") ? "1" : "2";
    CHECK(parsed.error().message.starts_with("F:" + line + ": "));
  }
}

TEST_CASE("a letter beyond ASCII in a string or a comment is accepted") {
  for (const char* toml : {"", "# ü", "\xef\xbb\xbf# a byte order mark", "a = \"ü\"", "a = 'ü\\'", "a = \"\\\"ü\"",
                           "'ü' = 1", "a = \"\"\"\nü \"\" ü\n\\\"\"\" ü\"\"\"", "a = '''\nü '' ü\n'''", "a = \"\" # ü",
                           "a = '#' # 'ü", "a = \"\"\"\\\n ü\"\"\"", "a6 = \"ü\"", "a-6.\"ü\" = 1", "a = [6, \"ü\"]",
                           "a = 6 # \"ü", "a = {b=6, c=\"ü\"}", "a = \"\"\"ü\"\"\"\"\" # 'ü"}) {
    CAPTURE(toml);
    const auto parsed = parse_config(toml, "F");
    CHECK((parsed || parsed.error().message.find("unknown key") != std::string::npos));
  }
  const auto parsed = parse_config("[[category]] # für\nname = \"büro\"\nuser = 'jürgen'\n", "F");
  REQUIRE(parsed);
  CHECK(parsed->categories.front().name == "büro");
}
