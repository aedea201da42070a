#include "proc/pressure.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using M = MachineField;

TEST_CASE("pressure: averages are in basis points, totals in microseconds") {
  MachineMemory memory;
  REQUIRE(parse_pressure(test::fixture("linux-5.10/machine/pressure-memory"), memory).ok());
  CHECK(memory.get(M::psi_some_avg10) == 12);
  CHECK(memory.get(M::psi_some_avg60) == 105);
  CHECK(memory.get(M::psi_some_avg300) == 40);
  CHECK(memory.get(M::psi_some_total) == 10293847);
  CHECK(memory.get(M::psi_full_avg10) == 0);
  CHECK(memory.get(M::psi_full_avg60) == 71);
  CHECK(memory.get(M::psi_full_avg300) == 22);
  CHECK(memory.get(M::psi_full_total) == 8123456);

  REQUIRE(parse_pressure(test::fixture("linux-6.1/machine/pressure-memory"), memory).ok());
  CHECK(memory.get(M::psi_some_avg60) == 10000);
  CHECK(memory.get(M::psi_some_total) == 18446744073);
  REQUIRE(parse_pressure(test::fixture("linux-6.18/machine/pressure-memory"), memory).ok());
  CHECK(memory.get(M::psi_some_total) == 0);
}

TEST_CASE("pressure: the line full may be missing, and there may be more lines and values") {
  MachineMemory memory;
  memory.set(M::psi_full_total, 1);
  REQUIRE(parse_pressure("most avg10=x\nsome avg10=0.01 avg60=0.02 avg300=0.03 avg900=9 total=4\n", memory).ok());
  CHECK(memory.get(M::psi_some_avg300) == 3);
  CHECK(memory.get(M::psi_some_total) == 4);
  CHECK_FALSE(memory.has(M::psi_full_total));
}
