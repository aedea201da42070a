// Errors of system calls that seldom fail. A seccomp filter makes them fail.

#include <cerrno>
#include <fcntl.h>
#include <linux/capability.h>
#include <optional>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/capability.h"
#include "base/file.h"
#include "support/catch.h"
#include "support/in_child.h"
#include "support/refused_call.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;

namespace {

// Returns the result of `run` in a child process in which this system call fails with EACCES; nullopt if the filter
// cannot be set.
template <typename Run>
std::optional<std::string> child_without(std::uint32_t number, std::uint32_t mask, Run run) {
  const std::string result = test::in_child(
      [&]() -> std::string { return test::refuse_call(number, 2, mask, mask, EACCES) ? run() : "no filter"; });
  if (result != "no filter") return result;
  WARN("not run: no seccomp filter could be set");
  return std::nullopt;
}

// Capabilities as /proc/self/status shows them.
std::string capabilities() {
  const std::string status = test::slurp("/proc/self/status");
  const std::size_t at = status.find("CapInh:");
  return status.substr(at, status.find("CapBnd:") - at);
}

}  // namespace

TEST_CASE("if capabilities cannot be read, none is toggled or dropped") {
  const auto result = child_without(SYS_capget, 0, [] {
    const std::string before = capabilities();
    const Capability capability(CAP_SYS_PTRACE);
    const bool done = capability.enable(true) || capability.enable(false) || capability.give_up();
    clear_inheritable_caps();
    return done ? "done" : capabilities() != before ? "others went" : "refused";
  });
  if (result) CHECK(*result == "refused");
}

TEST_CASE("if the folder cannot be synced, the file exists, and an error reports that a power cut may lose it") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const auto result = child_without(SYS_openat, O_DIRECTORY, [&path] {
    const Status written = write_file(path, "text");
    return written ? "written" : written.error().message;
  });
  if (!result) return;
  CHECK(result->starts_with("cannot sync"));
  CHECK(test::slurp(path) == "text");
}
