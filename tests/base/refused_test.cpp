// What is told where the kernel refuses a call that it hardly ever refuses.

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

// What a child returned that can do no such call; nothing where that cannot be had.
template <typename Run>
std::optional<std::string> child_without(std::uint32_t number, std::uint32_t mask, Run run) {
  const std::string told = test::in_child(
      [&]() -> std::string { return test::refuse_call(number, 2, mask, mask, EACCES) ? run() : "no filter"; });
  if (told != "no filter") return told;
  WARN("not run: no seccomp filter could be set");
  return std::nullopt;
}

// As the kernel tells them.
std::string capabilities() {
  const std::string status = test::slurp("/proc/self/status");
  const std::size_t at = status.find("CapInh:");
  return status.substr(at, status.find("CapBnd:") - at);
}

}  // namespace

TEST_CASE("a capability that cannot be looked at is neither switched nor given up, and the others stay") {
  const auto told = child_without(SYS_capget, 0, [] {
    const std::string before = capabilities();
    const Capability capability(CAP_SYS_PTRACE);
    const bool done = capability.enable(true) || capability.enable(false) || capability.give_up();
    keep_capabilities_from_programs();
    return done ? "done" : capabilities() != before ? "others went" : "refused";
  });
  if (told) CHECK(*told == "refused");
}

TEST_CASE("a file whose folder cannot be synced is there, and that it may not be after a power cut is an error") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const auto told = child_without(SYS_openat, O_DIRECTORY, [&path] {
    const Status written = write_file(path, "text");
    return written ? "written" : written.error().message;
  });
  if (!told) return;
  CHECK(told->starts_with("cannot sync"));
  CHECK(test::slurp(path) == "text");
}
