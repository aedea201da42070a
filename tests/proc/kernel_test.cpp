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
