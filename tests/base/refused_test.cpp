// What is told where the kernel refuses a call that it hardly ever refuses.

#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <linux/capability.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/capability.h"
#include "base/file.h"
#include "support/catch.h"
#include "support/refused_call.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;

namespace {

constexpr int kNoFilter = 77;

// What a child exits with that can do no such call.
int child_without(std::uint32_t number, std::uint32_t mask, const std::function<int()>& run) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(test::refuse_call(number, 2, mask, mask, EACCES) ? run() : kNoFilter);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoFilter) WARN("not run: no seccomp filter could be set");
  return WEXITSTATUS(status);
}

// As the kernel tells them.
std::string capabilities() {
  const std::string status = test::slurp("/proc/self/status");
  const std::size_t at = status.find("CapInh:");
  return status.substr(at, status.find("CapBnd:") - at);
}

}  // namespace

TEST_CASE("a capability that cannot be looked at is neither switched nor given up, and the others stay") {
  const int found = child_without(SYS_capget, 0, [] {
    const std::string before = capabilities();
    const Capability capability(CAP_SYS_PTRACE);
    const bool done = capability.enable(true) || capability.enable(false) || capability.give_up();
    keep_capabilities_from_programs();
    return done ? 1 : capabilities() != before ? 2 : 0;
  });
  if (found != kNoFilter) CHECK(found == 0);
}

TEST_CASE("a file whose folder cannot be synced is there, and that it may not be after a power cut is an error") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const int found = child_without(SYS_openat, O_DIRECTORY, [&path] {
    const Status written = write_file(path, "text");
    return written ? 1 : written.error().message.starts_with("cannot sync") ? 0 : 2;
  });
  if (found == kNoFilter) return;
  CHECK(found == 0);
  CHECK(test::slurp(path) == "text");
}
