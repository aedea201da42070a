#include "proc/sysvipc_shm.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("sysvipc/shm: rss and swap of all segments are summed up") {
  CHECK(*parse_sysvipc_shm(test::fixture("linux-6.18/machine/sysvipc-shm")) == 5120);
  CHECK(*parse_sysvipc_shm("key shmid rss swap\n") == 0);
  CHECK(*parse_sysvipc_shm("key rss swap new\n 0 4096 8192 1\n 1 1024 0 1\n") == 13);
}

TEST_CASE("sysvipc/shm: without its columns, torn, negative or too large it is an error") {
  const auto text =
      GENERATE(as<std::string>{}, "", "key shmid", "key shmid\n0 1\n", "rss swap\n4096 0", "rss swap\n4096\n",
               "rss swap\n-1 0\n", "rss swap\n9223372036854775807 1\n", "rss swap\n\n");
  INFO(text);
  CHECK(parse_sysvipc_shm(text).error().kind == ErrorKind::malformed);
}
