#include "proc/limits.h"

#include "support/catch.h"

using namespace memoir;

namespace {

// The text of Linux 6.18.
constexpr const char* kText =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max stack size            8388608              unlimited            bytes     \n"
    "Max open files            20000                20000                files     \n"
    "Max nice priority         0                    0                    \n";

}  // namespace

TEST_CASE("limits: memory and files have soft and hard limits") {
  CHECK(*parse_limits(kText) == "STACK=8388608:unlimited NOFILE=20000:20000");
  CHECK(parse_limits("").error().kind == ErrorKind::malformed);
}

TEST_CASE("limits: only the value of an odd line is unknown") {
  OddLines odd;
  const auto limits = parse_limits("Max stack size  -1  unlimited  bytes\nMax open files  1  2  files\n", &odd);
  CHECK(*limits == "NOFILE=1:2");
  REQUIRE(odd.kinds().size() == 1);
}

TEST_CASE("oom_score_adj: a number within bounds") {
  CHECK(*parse_oom_score_adj("-1000\n") == -1000);
  for (const char* text : {"", "x\n", "1001\n", "99999999999999999999\n"})
    CHECK(parse_oom_score_adj(text).error().kind == ErrorKind::malformed);
}
