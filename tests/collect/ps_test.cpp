#include "collect/vmmap/ps.h"

#include "base/text.h"
#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("ps: every column is parsed, and the command line to its end") {
  const auto process = parse_ps_line(
      "  412     1   400   501 alice  Ss+  Sun Nov 22 12:42:56 2026 /Applications/Shop Server.app/shop  --listen "
      "8080 ");
  REQUIRE(process.ok());
  CHECK(process->pid == 412);
  CHECK(process->parent_pid == 1);
  CHECK(process->group == 400);
  CHECK(process->uid == 501);
  CHECK(process->user == "alice");
  CHECK(process->state == 'S');
  CHECK(process->start_ms == 1'795'351'376'000);
  CHECK(process->command == "/Applications/Shop Server.app/shop  --listen 8080");
}

TEST_CASE("ps: output of macOS is parsed for all kinds of processes") {
  const std::string text = test::fixture("vmmap/ps");
  std::vector<PsProcess> processes;
  for (std::string_view rest = text; !rest.empty();) {
    const auto process = parse_ps_line(cut_line(rest));
    REQUIRE(process.ok());
    processes.push_back(*process);
  }
  REQUIRE(processes.size() == 6);
  CHECK(processes[2].command == "-bash");
  CHECK(processes[4].state == 'D');
  CHECK(processes[5].uid == 4'294'967'294U);
  CHECK(processes[5].state == 'Z');
  CHECK(processes[5].start_ms == 1'456'790'400'000);
}

TEST_CASE("ps: a line that cannot be understood is malformed, and the error contains it") {
  for (const std::string_view line :
       {"", "  PID  PPID  PGID   UID USER STAT STARTED COMMAND", "1 0 1 0 root S",
        "x 0 1 0 root S Sun Nov 22 12:42:56 2026 a", "-1 0 1 0 root S Sun Nov 22 12:42:56 2026 a",
        "1 0 1 0 root 7 Sun Nov 22 12:42:56 2026 a", "1 0 1 0 root S Sun Nox 22 12:42:56 2026 a",
        "1 0 1 0 root S Sun Feb 29 12:42:56 2026 a", "1 0 1 0 root S Sun Nov 22 24:42:56 2026 a",
        "1 0 1 0 root S Sun Nov 22 12:42 2026 a", "1 0 1 0 root S 22 Nov 12:42:56 2026 a"}) {
    INFO(line);
    const auto process = parse_ps_line(line);
    REQUIRE_FALSE(process.ok());
    CHECK(process.error().kind == ErrorKind::malformed);
    CHECK(process.error().message.starts_with("ps: cannot understand"));
  }
}
