#include "proc/zoneinfo.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("zoneinfo: the pages on the lists of all CPUs and zones are summed") {
  const std::string text = test::fixture("linux-6.18/machine/zoneinfo");
  CHECK(*parse_per_cpu_free(text, 4) == 72977 * 4);
  CHECK(*parse_per_cpu_free(text, 64) == 72977 * 64);
  CHECK(*parse_per_cpu_free("Node 0, zone DMA\n  pagesets\n    cpu: 0\n              count: 3\n  nr_count: 9\n", 4) ==
        12);
}

TEST_CASE("zoneinfo: without a count, or with an odd one, the sum is unknown") {
  const auto text = GENERATE(as<std::string>{}, "", "Node 0\n", "  count: 1\n  count: -1\n", "  count: 1\n  count:\n",
                             "  count: 1\n  count: 2", "  count: 9223372036854775807\n  count: 1\n",
                             "  count: 9223372036854775807\n");
  INFO(text);
  CHECK(parse_per_cpu_free(text, 4).error().kind == ErrorKind::malformed);
}
