#include "query/cpu_alarm.h"

#include <array>
#include <ctime>
#include <functional>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/catch.h"

namespace cpu_alarm_test {

using namespace memoir;
using namespace memoir::query;
using namespace std::chrono_literals;

namespace {

struct Ended {
  int status = 0;
  std::string text;  // text on standard error
};

Ended run_in_child(const std::function<void()>& body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(to.get(), STDERR_FILENO);
    ::alarm(60);
    body();
    ::_exit(0);
  }
  to.reset();
  Ended ended;
  std::array<char, 512> piece{};
  for (ssize_t got = 0; (got = ::read(from.get(), piece.data(), piece.size())) > 0;)
    ended.text.append(piece.data(), static_cast<std::size_t>(got));
  REQUIRE(::waitpid(child, &ended.status, 0) == child);
  return ended;
}

void use_cpu(std::chrono::milliseconds time) {
  const std::clock_t until = std::clock() + time.count() * CLOCKS_PER_SEC / 1000;
  while (std::clock() < until) continue;
}

}  // namespace

TEST_CASE("an answer that uses too much processor time is stopped, with a message that has the fix") {
  const Ended ended = run_in_child([] {
    const CpuAlarm alarm("/tmp/\033[2Jx.db", 20ms);
    for (;;) use_cpu(1ms);
  });
  CHECK(WIFEXITED(ended.status));
  CHECK(WEXITSTATUS(ended.status) == 1);
  CHECK(ended.text == "memoir: /tmp/\\x1b[2Jx.db: the answer takes too long; use a shorter range\n");
}

TEST_CASE("an answer within its processor time, or after it has ended, is not stopped") {
  const Ended ended = run_in_child([] {
    std::optional<CpuAlarm> alarm;
    alarm.emplace("x.db", 30s);
    use_cpu(20ms);
    alarm.emplace("x.db", 20ms);
    alarm.reset();
    use_cpu(60ms);
  });
  CHECK(WIFEXITED(ended.status));
  CHECK(WEXITSTATUS(ended.status) == 0);
  CHECK(ended.text.empty());
}

}  // namespace cpu_alarm_test
