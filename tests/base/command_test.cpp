#include "base/command.h"

#include <thread>

#include "base/spawn.h"
#include "support/catch.h"

using namespace memoir;
using namespace std::chrono_literals;

namespace {

Result<CommandOutput> shell(const std::string& script, const CommandLimits& limits = {}) {
  return run_command("/bin/sh", {"-c", script}, limits);
}

}  // namespace

TEST_CASE("a command's output is kept, and how it ended told") {
  const auto well = shell("echo out; echo err >&2");
  REQUIRE(well);
  CHECK(well->out == "out\n");
  CHECK(well->problem.empty());
  CHECK(shell("echo why >&2; exit 3")->problem == "exit status 3: why");
  CHECK(shell("kill -9 $$")->problem == "signal 9");
}

TEST_CASE("a command has none of our descriptors, signals as they should be, and nothing to read") {
  const auto pipe = make_pipe();
  REQUIRE(pipe);
  const auto found = shell("cat; ls /proc/self/fd; grep Sig[BI] /proc/self/status");
  REQUIRE(found);
  CHECK(found->out.starts_with("0\n1\n2\n3\nSigBlk:\t0000000000000000\n"));
}

TEST_CASE("a command that cannot be run, is late or prints too much is an error") {
  CHECK(run_command("/nonexistent", {}, {}).error().kind == ErrorKind::gone);
  CHECK(shell("sleep 1000", {.time = 50ms}).error().kind == ErrorKind::blocked);
  CHECK(shell("exec >&- 2>&-; sleep 1000", {.time = 50ms}).error().kind == ErrorKind::blocked);
  CHECK(shell("yes", {.bytes = 100}).error().kind == ErrorKind::io);
}

TEST_CASE("a command is ended when it is asked to, whether it still prints or not") {
  for (const std::string script : {"sleep 1000", "exec >&- 2>&-; sleep 1000"}) {
    std::stop_source source;
    std::thread asker([&source] { source.request_stop(); });
    const auto ended = shell(script, {.time = 1h, .stop = source.get_token()});
    asker.join();
    REQUIRE_FALSE(ended);
    CHECK(ended.error().message == "/bin/sh was ended");
  }
}
