// The real program: its exit status, output and environment.

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "query/ask.h"
#include "query/history.h"
#include "query/render/layout.h"
#include "query/render/terminal.h"
#include "query/watch.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace program_test {

using memoir::cut_line;
using memoir::query::display_width;
using memoir::query::use_utf8;
using memoir::test::has;
using memoir::test::History;
using memoir::test::recorded;
using memoir::test::slurp;
using memoir::test::TemporaryDirectory;

namespace {

struct Ran {
  int status = -1;  // exit status, or 128 + signal
  std::string out;
  std::string error;
};

// Runs memoir in a shell, with only `environment` in the environment.
Ran run(const std::string& arguments, const std::string& environment = "") {
  const TemporaryDirectory directory;
  const std::string command = "env -i HOME=" + directory.path() + " " + environment + " " MEMOIR " " + arguments +
                              " >" + directory.path() + "/out 2>" + directory.path() + "/err </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(directory.path() + "/out"),
          slurp(directory.path() + "/err")};
}

void record(History& history) {
  history.begin_run();
  history.birth(7, {"日本", "日本語 \xc3\xa4", "web"}, 5000);
  history.tick(3);
  history.end_run();
}

}  // namespace

TEST_CASE("The view needs a terminal, and names the command without one") {
  const Ran ran = run("view --at 03:14 --db " + recorded<record>().path());
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  CHECK(has(ran.error, "use memoir top --at 03:14"));
  CHECK(run("view pages").status == 2);
}

TEST_CASE("Exit 0: an answer, help and version on standard output only") {
  for (const std::string& arguments :
       {"top --db " + recorded<record>().path(), std::string("--help"), std::string("--version"),
        std::string("top --help"), std::string("help processes")}) {
    CAPTURE(arguments);
    const Ran ran = run(arguments);
    CHECK(ran.status == 0);
    CHECK_FALSE(ran.out.empty());
    CHECK(ran.error.empty());
  }
  CHECK(has(run("--version").out, "SQLite 3."));
}

TEST_CASE("Exit 1: only regular files are opened, and unreadable files are reported") {
  const TemporaryDirectory directory;
  const std::string fifo = directory.path() + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const Ran queue = run("top --db " + fifo);
  CHECK(queue.status == 1);
  CHECK(has(queue.error, "is not a regular file"));
  if (geteuid() == 0) return;  // root can read every file
  const std::string closed = directory.path() + "/closed.db";
  std::ofstream(closed) << "x";
  REQUIRE(chmod(closed.c_str(), 0) == 0);
  const Ran refused = run("top --db " + closed);
  CHECK(refused.status == 1);
  CHECK(has(refused.error, "this user may not read"));
}

TEST_CASE("Exit 1: an answer that cannot be written, however long it is") {
  for (const std::string& arguments :
       {std::string("--help"), "top --limit 0 --format json --db " + recorded<record>().path(),
        "peaks --db " + recorded<record>().path()}) {
    const Ran ran = run(arguments + " >/dev/full #");
    CHECK(ran.status == 1);
  }
}

TEST_CASE("Exit 1: the message for a missing or foreign file names the file and the fix") {
  const TemporaryDirectory directory;
  const std::string absent = directory.path() + "/absent.db";
  const Ran none = run("top --db " + absent);
  CHECK(none.status == 1);
  CHECK(has(none.error, absent));
  CHECK(has(none.error, "memoird"));
  CHECK(none.out.empty());

  const std::string text = directory.path() + "/text.db";
  std::ofstream(text) << std::string(5000, 'x');
  const Ran not_ours = run("top --db " + text);
  CHECK(not_ours.status == 1);
  CHECK(has(not_ours.error, text));

  CHECK(run("top --db " + directory.path()).status == 1);
}

TEST_CASE("Exit 2: usage, without opening a file") {
  for (const char* arguments : {"tpo", "top --nonsense", "top --format yaml", "top --limit x", "top --db"}) {
    CAPTURE(arguments);
    const Ran ran = run(arguments);
    CHECK(ran.status == 2);
    CHECK(ran.out.empty());
    CHECK(has(ran.error, "memoir: "));
  }
}

TEST_CASE("Exit 2: a time zone that is not a regular file is not read") {
  const TemporaryDirectory directory;
  const std::string fifo = directory.path() + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const std::string& zone : {fifo, ":" + fifo, "../../.." + fifo, std::string("/dev/zero")}) {
    CAPTURE(zone);
    const Ran ran = run("top --db " + recorded<record>().path(), "TZ=" + zone);
    CHECK(ran.status == 2);
    CHECK(has(ran.error, "TZ is"));
  }
  for (const char* zone : {"UTC", ":UTC", "CET-1CEST", ":/nonexistent"})
    CHECK(run("top --db " + recorded<record>().path(), std::string("TZ=") + zone).status == 0);
}

TEST_CASE("Exit 3: nothing was recorded then") {
  CHECK(run("top --at 2020-01-01 --db " + recorded<record>().path()).status == 3);
}

TEST_CASE("The database comes from --db, then MEMOIR_DB, then the XDG path") {
  CHECK(run("top", "MEMOIR_DB=" + recorded<record>().path()).status == 0);
  CHECK(run("top --db /nonexistent", "MEMOIR_DB=" + recorded<record>().path()).status == 1);
  CHECK(has(run("top", "MEMOIR_DB=/nonexistent").error, "$MEMOIR_DB"));
  if (access("/var/lib/memoir/memoir.db", F_OK) == 0) return;  // this file precedes the XDG path
  const TemporaryDirectory data;
  REQUIRE(mkdir((data.path() + "/memoir").c_str(), 0700) == 0);
  const Ran absent = run("top", "XDG_DATA_HOME=" + data.path());
  CHECK(absent.status == 1);
  CHECK(has(absent.error, data.path()));
  REQUIRE(std::system(("cp " + recorded<record>().path() + "* " + data.path() + "/memoir/").c_str()) == 0);
  CHECK(run("top", "XDG_DATA_HOME=" + data.path()).status == 0);
}

TEST_CASE("In a pipe: no colour, nothing truncated, UTF-8 in any locale") {
  const Ran ran = run("top --db " + recorded<record>().path(), "LC_ALL=C TERM=xterm");
  CHECK(ran.status == 0);
  CHECK_FALSE(has(ran.out, "\x1b"));
  CHECK(has(ran.out, "日本語 ä"));
}

TEST_CASE("CSV and OpenMetrics show control characters as numbers on a terminal, and unchanged elsewhere") {
  if (std::system("command -v script >/dev/null 2>&1") != 0) {
    WARN("skipped: script(1) is not installed");
    return;
  }
  History history;
  history.begin_run();
  history.birth(7, {"\x1b[2Jname", "\x1b[2Jcommand\x07", "web"}, 5000);
  history.tick(3);
  const TemporaryDirectory directory;
  for (const char* command : {"top --format csv", "export processes --format csv", "export --format openmetrics"}) {
    CAPTURE(command);
    const std::string asked = std::string(MEMOIR " ") + command + " --no-pager --db " + history.path();
    REQUIRE(std::system(("env -i HOME=/ TERM=xterm PATH=/usr/bin:/bin script -qec '" + asked +
                         "' /dev/null </dev/null >" + directory.path() + "/out 2>&1")
                            .c_str()) == 0);
    const std::string shown = slurp(directory.path() + "/out");
    CHECK_FALSE(has(shown, "\x1b[2J"));
    CHECK(has(shown, "\\x1b[2Jname"));
    CHECK(has(run(std::string(command) + " --db " + history.path()).out, "\x1b[2Jname"));
  }
}

TEST_CASE("In a pipe a table is as wide as $COLUMNS") {
  use_utf8();
  const Ran whole = run("top --db " + recorded<record>().path(), "LC_ALL=C.UTF-8");
  const Ran cut = run("top --db " + recorded<record>().path(), "LC_ALL=C.UTF-8 COLUMNS=60");
  const auto widest = [](const std::string& text) {
    std::size_t most = 0;
    for (std::string_view rest = text; !rest.empty();) most = std::max(most, display_width(cut_line(rest)));
    return most;
  };
  CHECK(widest(whole.out) > 60);
  CHECK(widest(cut.out) <= 60);
}

TEST_CASE("Charts are ASCII if the locale has no other characters") {
  const std::string command = "summary --day 2026-11-19 --utc --db " + recorded<record>().path();
  const Ran blocks = run(command, "LC_ALL=C.UTF-8");
  const Ran ascii = run(command, "LC_ALL=C");
  REQUIRE(has(blocks.out, "┤"));
  CHECK_FALSE(has(ascii.out, "┤"));
  CHECK(has(ascii.out, "iB +"));
}

TEST_CASE("A watched answer fits its screen and counts omitted rows") {
  using memoir::query::screen_of;
  using memoir::query::watched_command;
  CHECK(screen_of("a\nb\n", {80, 24}) == "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
  CHECK(screen_of("a\nb\nc\nd\n", {80, 4}) == "\x1b[Ha\x1b[K\nb\x1b[K\n… 2 more lines\x1b[K\x1b[J");
  CHECK(watched_command({"watch", "top", "-n", "3"}) == std::vector<std::string>{"top", "-n", "3"});
  CHECK(watched_command({"top", "-w"}) == std::vector<std::string>{"top"});
  CHECK(watched_command({"watch", "-n", "1", "top"}) == std::vector<std::string>{"top"});
  CHECK(watched_command({"watch", "-d", "2", "top"}) == std::vector<std::string>{"top"});
  CHECK(watched_command({"watch", "-d", "top", "nginx"}) == std::vector<std::string>{"-d", "top", "nginx"});
  CHECK_FALSE(watched_command({"top"}));
  const Ran piped = run("watch top");
  CHECK(piped.status == 2);
  CHECK(has(piped.error, "needs a terminal"));
}

TEST_CASE("Only a long answer on a terminal goes through the pager") {
  if (std::system("command -v script >/dev/null 2>&1") != 0) {
    WARN("skipped: script(1) is not installed");
    return;
  }
  // script(1) runs it on a terminal; the pager adds a mark to its output.
  const auto on_terminal = [](const std::string& environment, const std::string& arguments) {
    const TemporaryDirectory directory;
    const std::string command = "env -i HOME=/ TERM=xterm PATH=/usr/bin:/bin LINES=10 COLUMNS=80 " + environment +
                                " script -qec '" MEMOIR " " + arguments + "' /dev/null </dev/null >" +
                                directory.path() + "/out 2>&1";
    CHECK(std::system(command.c_str()) == 0);
    return slurp(directory.path() + "/out");
  };
  CHECK(has(on_terminal("MEMOIR_PAGER='sed s/^/paged:/'", "--help"), "paged:Usage"));
  CHECK(has(on_terminal("PAGER='sed s/^/paged:/'", "--help"), "paged:Usage"));
  CHECK(has(on_terminal("MEMOIR_PAGER='sed s/^/paged:$LESS:/'", "--help"), "paged:"));
  for (const char* environment : {"MEMOIR_PAGER= PAGER='sed s/^/paged:/'", "PAGER=cat", "PAGER=/nonexistent/pager"}) {
    const std::string out = on_terminal(environment, "--help");
    CHECK(has(out, "Usage: memoir"));
    CHECK_FALSE(has(out, "paged:"));
  }
  CHECK_FALSE(has(on_terminal("PAGER='sed s/^/paged:/'", "--help --no-pager"), "paged:"));
  CHECK_FALSE(has(on_terminal("PAGER='sed s/^/paged:/'", "--version"), "paged:"));
  CHECK_FALSE(has(run("--help", "PAGER='sed s/^/paged:/'").out, "paged:"));
}

TEST_CASE("If the reader closes the pipe memoir exits without a message, and on a full disk with one") {
  const TemporaryDirectory directory;
  const std::string errors = directory.path() + "/err";
  REQUIRE(std::system((MEMOIR " --help 2>" + errors + " | true").c_str()) == 0);
  CHECK(slurp(errors).empty());
  const int status = std::system((MEMOIR " --help >/dev/full 2>" + errors).c_str());
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(has(slurp(errors), "cannot write"));
}

}  // namespace program_test
