#include "recorder/last_end.h"

#include <filesystem>
#include <fstream>

#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

TEST_CASE("the cause of the previous recorder's exit is known from systemd and memory.events") {
  CHECK(end_cause("success exited 0 oom_kill 0\n").empty());
  CHECK(end_cause("").empty());
  CHECK(end_cause("signal killed KILL oom_kill 1\n").starts_with("The OOM killer killed the previous recorder"));
  CHECK(end_cause("oom-kill killed KILL\n").starts_with("The OOM killer"));
  CHECK(end_cause("signal killed KILL oom_kill 0\n") == "SIGKILL killed the previous recorder");
  CHECK(end_cause("core-dump dumped SEGV oom_kill 0\n") == "The previous recorder crashed with SIGSEGV");
  CHECK(end_cause("core-dump dumped SEGV oom_kill 3\n") == "The previous recorder crashed with SIGSEGV");
  CHECK(end_cause("watchdog dumped ABRT oom_kill 0\n").starts_with("The watchdog killed"));
  CHECK(end_cause("exit-code exited 1 oom_kill 0\n") ==
        "The previous recorder exited with status 1 (systemd: exit-code)");
}

TEST_CASE("the note of the previous recorder's exit is read once, and only if the same user owns the file") {
  const TemporaryDirectory folder;
  const std::string db = folder.path() + "/memoir.db";
  const std::string note = folder.path() + "/last-end";
  CHECK(take_end_cause(db).empty());
  std::ofstream(note) << "signal killed KILL oom_kill 1\n";
  CHECK(take_end_cause(db).starts_with("The OOM killer"));
  CHECK(take_end_cause(db).empty());
  std::ofstream(folder.path() + "/other") << "signal killed KILL\n";
  std::filesystem::create_symlink(folder.path() + "/other", note);
  CHECK(take_end_cause(db).empty());
}
