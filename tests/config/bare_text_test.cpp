// Letters beyond ASCII: fine in strings and comments, and refused anywhere else with the line, before toml++ sees them.

#include "config/bare_text.h"

#include "config/config.h"
#include "support/catch.h"

using namespace memoir;

TEST_CASE("a letter beyond ASCII outside of quotes is refused, and the line told") {
  for (const char* toml :
       {"[recorder]\nbüro = 1\n", "[recorder]\ninterval = ü\n", "# ü\nſ", "a = \"ü\"ü\n# 2", "\na\xff = 1",
        "a = '''\n''' ü", "a = \"\nü\"", "a = \"x\\\"\nü\"", "a = \"\" ''\nü", "\na = 6\"ü", "\na = -0.'ü'",
        "\na = [\"6\", 6=\"ü\"]", "\na = 1979-05-27 07:32\"ü\"", "a = [\"\"\"\n\"\"\"\" , ü]", "a = '''\n''''' ü"}) {
    CAPTURE(toml);
    const auto parsed = parse_config(toml, "F");
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::malformed);
    const std::string line = std::string_view(toml).starts_with("a = \"ü") ? "1" : "2";
    CHECK(parsed.error().message.starts_with("F:" + line + ": a letter beyond ASCII outside of quotes"));
  }
}

TEST_CASE("a letter beyond ASCII in a string or a comment is none of it") {
  for (const char* toml :
       {"", "# ü", "\xef\xbb\xbf# a byte order mark", "a = \"ü\"", "a = 'ü\\'", "a = \"\\\"ü\"", "'ü' = 1",
        "a = \"\"\"\nü \"\" ü\n\\\"\"\" ü\"\"\"", "a = '''\nü '' ü\n'''", "a = \"\" # ü", "a = '#' # 'ü", "a6 = \"ü\"",
        "a-6.\"ü\" = 1", "a = [6, \"ü\"]", "a = 6 # \"ü", "a = {b=6, c=\"ü\"}", "a = \"\"\"ü\"\"\"\"\" # 'ü"}) {
    CAPTURE(toml);
    CHECK_FALSE(line_beyond_ascii(toml));
  }
  const auto parsed = parse_config("[[category]] # für\nname = \"büro\"\nuser = 'jürgen'\n", "F");
  REQUIRE(parsed);
  CHECK(parsed->categories.front().name == "büro");
}
