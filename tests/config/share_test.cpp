#include "config/config.h"
#include "support/catch.h"

using namespace memoir;

TEST_CASE("shares are a number of percent of a core") {
  CHECK(*parse_share("0.5%") == 5'000);
  CHECK(*parse_share("100%") == 1'000'000);
  CHECK(*parse_share("0.0001%") == 1);
  CHECK(*parse_share("unlimited") == 0);
}

TEST_CASE("other text than a share is refused, and the format is shown") {
  for (const char* text : {"", "%", "0.5", "0.5 %", " 1%", "1%%", "-1%", "+1%", "1e1%", "inf%", "nan%", "Unlimited"}) {
    INFO("text: '" << text << "'");
    const auto parsed = parse_share(text);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.error().message, test::ContainsSubstring("0.5%, or unlimited"));
  }
  CHECK_THAT(parse_share("100.1%").error().message, test::ContainsSubstring("more than 100%"));
  CHECK_THAT(parse_share("0%").error().message, test::ContainsSubstring("unlimited"));
}

TEST_CASE("a printed share reads back") {
  CHECK(format_share(5'000) == "0.5%");
  CHECK(format_share(0) == "unlimited");
  for (const std::int64_t ppm : {1, 99, 5'000, 12'345, 333'333, 1'000'000})
    CHECK(*parse_share(format_share(ppm)) == ppm);
}
