#include "proc/kernel.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("boot_id is a UUID") {
  CHECK(*parse_boot_id(test::fixture("linux-6.18/machine/boot_id")) == "ea409d61-8f96-496c-b7b5-138ff770209b");
  const auto text = GENERATE(as<std::string>{}, "", "\n", "ea409d61-8f96-496c-b7b5-138ff770209\n",
                             "ea409d61-8f96-496c-b7b5-138ff770209bb\n", "ea409d618f96-496c-b7b5-138ff770209b-\n",
                             "ga409d61-8f96-496c-b7b5-138ff770209b\n", "ea409d61-8f96-496c-b7b5-138ff770209b' OR 1\n");
  INFO(text);
  CHECK(parse_boot_id(text).error().kind == ErrorKind::malformed);
}

TEST_CASE("btime is found among the lines of stat") {
  CHECK(*parse_btime(test::fixture("linux-6.18/machine/stat")) == 1795169611000);
  CHECK(*parse_btime("btime 0\n") == 0);
  const auto text = GENERATE(as<std::string>{}, "", "cpu 1\n", "btime\n", "btime -1\n", "btime 17951696",
                             "btime 9223372036854775807\n", "xbtime 5\n");
  INFO(text);
  CHECK(parse_btime(text).error().kind == ErrorKind::malformed);
}

TEST_CASE("uptime in milliseconds") {
  CHECK(*parse_uptime("6296.45 12345.67\n") == 6296450);
  CHECK(*parse_uptime(test::fixture("linux-3.13/machine/uptime")) == 1209600550);
  CHECK(*parse_uptime("0.07 0.00\n") == 70);
  const auto text = GENERATE(as<std::string>{}, "", "\n", "6296.45", "6296.4", "6296 1.00\n", "-1.00 1.00\n",
                             "99999999999999999999.00 1.00\n", "9223372036854775.00 \n", "92233720368547758.07 1.00\n");
  INFO(text);
  CHECK(parse_uptime(text).error().kind == ErrorKind::malformed);
}
