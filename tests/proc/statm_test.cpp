#include "proc/statm.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("statm: pages are converted to KiB") {
  const auto statm = parse_statm("765 434 405 5 0 123 0\n", 4);
  REQUIRE(statm.ok());
  CHECK(statm->size_kib == 3060);
  CHECK(statm->rss_kib == 1736);
  CHECK(statm->shared_kib == 1620);
  CHECK(statm->text_kib == 20);
  CHECK(statm->data_kib == 492);
  CHECK(parse_statm("765 434 405 5 0 123 0\n", 64)->rss_kib == 27776);
}

TEST_CASE("statm: captured files are parsed, and those of a zombie and a kernel thread have zeros") {
  CHECK(parse_statm(test::fixture("linux-6.18/python/statm"), 4)->rss_kib == 118952);
  CHECK(parse_statm(test::fixture("linux-6.18/zombie/statm"), 4)->size_kib == 0);
  CHECK(parse_statm(test::fixture("linux-6.18/kernel-thread/statm"), 4)->rss_kib == 0);
}

TEST_CASE("statm: truncated, negative, too large or non-numeric text is malformed") {
  const auto text = GENERATE(as<std::string>{}, "765 434 405 5 0 123", "765 434 405 5 0 123\n", "765", " ", "\n",
                             "765 434 405 5 0 -1 0\n", "9223372036854775807 434 405 5 0 1 0\n",
                             "18446744073709551616 434 405 5 0 1 0\n", "765 x 405 5 0 123 0\n");
  INFO(text);
  const auto statm = parse_statm(text, 4);
  REQUIRE_FALSE(statm.ok());
  CHECK(statm.error().kind == ErrorKind::malformed);
}

TEST_CASE("statm: no text means that the process has exited") {
  CHECK(parse_statm("", 4).error().kind == ErrorKind::not_found);
}
