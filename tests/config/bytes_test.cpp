#include "config/config.h"
#include "support/catch.h"

using namespace memoir;

TEST_CASE("sizes are a number and a binary unit") {
  CHECK(*parse_bytes("1KiB") == 1024);
  CHECK(*parse_bytes("64MiB") == 64LL << 20);
  CHECK(*parse_bytes("1.5GiB") == 3LL << 29);
  CHECK(*parse_bytes("2TiB") == 2LL << 40);
  CHECK(*parse_bytes("unlimited") == 0);
}

TEST_CASE("other text than a size is refused, and the formats are shown") {
  for (const char* text : {"", "1", "GiB", "1 GiB", " 1GiB", "1GiB ", "-1GiB", "+1GiB", "1e3GiB", "1GB", "1gib", "1G",
                           "inf", "nanGiB", ".5GiB", "0x1GiB", "Unlimited"}) {
    INFO("text: '" << text << "'");
    const auto parsed = parse_bytes(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::malformed);
    CHECK_THAT(parsed.error().message, test::ContainsSubstring("64MiB, 1.5GiB, or unlimited"));
  }
}

TEST_CASE("too large a size is refused, and so is an empty one") {
  CHECK_THAT(parse_bytes("9999999TiB").error().message, test::ContainsSubstring("too large"));
  CHECK_THAT(parse_bytes("0GiB").error().message, test::ContainsSubstring("unlimited"));
  CHECK_FALSE(parse_bytes(std::string(1000, '9') + "KiB"));
}

TEST_CASE("a printed size reads back") {
  CHECK(format_bytes(2LL << 30) == "2GiB");
  CHECK(format_bytes(1536LL << 20) == "1536MiB");
  CHECK(format_bytes(0) == "unlimited");
  for (const std::int64_t bytes : {1LL, 1023LL, 1024LL, 1025LL, (1LL << 30) + 1, 1LL << 40}) {
    CHECK(*parse_bytes(format_bytes(bytes)) == bytes);
  }
}
