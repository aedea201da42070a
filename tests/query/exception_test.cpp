#include "query/session/exception.h"

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"
#include "support/sanitized.h"
#include "support/slurp.h"

namespace exception_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;

TEST_CASE("Each exception has its own message, and none is reported as damage") {
  const std::string memory = exception_message(std::bad_alloc());
  CHECK(has(memory, "not enough memory"));
  const std::string system = exception_message(std::system_error(std::make_error_code(std::errc::no_space_on_device)));
  CHECK(has(system, "No space left on device"));
  const std::string range = exception_message(std::out_of_range("map::at \x1b[2J"));
  CHECK(has(range, "std::out_of_range: map::at \\x1b[2J"));
  CHECK(has(range, "memoir doctor"));
  for (const std::string& message : {memory, system, range}) CHECK_FALSE(has(message, "may be damaged"));
}

TEST_CASE("Lack of memory is reported as such, and not as a damaged file") {
  if (test::kSanitized) return;  // a sanitizer needs more than any limit allows
  test::History history;
  history.begin_run();
  constexpr std::int32_t processes = 2000;
  for (std::int32_t pid = 1; pid <= processes; ++pid) history.birth(pid, {"worker", "worker", "web"}, 1000);
  history.tick(2);
  history.end_run();
  const test::TemporaryDirectory folder;
  const auto run = [&](int kib) {
    const std::string line = "ulimit -v " + std::to_string(kib) + "; exec " MEMOIR " top --format json --db " +
                             history.path() + " >/dev/null 2>" + folder.path() + "/err";
    return std::system(("bash -c '" + line + "'").c_str());
  };
  // The smallest sufficient limit.
  int little = 10'000;
  int enough = 4'000'000;
  REQUIRE(run(enough) == 0);
  while (enough - little > 1000) {
    const int middle = (little + enough) / 2;
    (run(middle) == 0 ? enough : little) = middle;
  }
  int reported = 0;
  for (int kib = enough - 1500; kib > enough - 8000; kib -= 1500) {
    const int status = run(kib);
    const std::string error = test::slurp(folder.path() + "/err");
    CAPTURE(kib, status, error);
    if (status == 0 || !has(error, "memoir: ")) continue;
    CHECK(WEXITSTATUS(status) == 1);
    CHECK(has(error, "memory"));
    CHECK_FALSE(has(error, "damaged"));
    ++reported;
  }
  CHECK(reported > 0);
}

}  // namespace exception_test
