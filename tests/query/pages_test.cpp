// The SQL page and the manual: everything that they name exists, and their examples work.

#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "model/machine.h"
#include "model/process.h"
#include "query/history.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace pages_test {

using namespace memoir;
using memoir::test::History;

namespace {

std::string read(const std::string& path) {
  std::string text = memoir::test::slurp(path);
  REQUIRE_FALSE(text.empty());
  return text;
}

// Records data for each of the queries.
void record(History& history) {
  history.begin_run();
  history.oom_kills(3);
  history.birth(812, {"nginx", "nginx: worker", "web", "www-data"}, 120'000);
  history.birth(813, {"nginx", "nginx: cache", "web", "www-data"}, 20'000);
  history.birth(900, {"postgres", "postgres: main", "database", "postgres"}, 500'000);
  history.mark(900, 2'000'000);
  history.tick(3);
  history.birth(950, {"job", "job", "other", "app"}, 90'000);
  history.tick(2);
  history.death(950);
  history.oom_kills(4);
  history.cgroup({"/system.slice", 400'000, 100'000, {}, 500'000, {}, {}});
  history.tick(3);
  history.kill();
  history.pause(60'000);
  history.begin_run();
  ProcessMappings summary;
  MappingRow ring{{MappingKind::memfd, "/memfd:ring (deleted)"}, {}};
  ring.use.regions = 1;
  summary.summary.rows = {ring};
  history.summary(812, summary);
  TmpfsSample mount;
  mount.mount_point = "/dev/shm";
  mount.walk = TmpfsWalk::whole;
  mount.walked_ms = History::kStart;
  mount.largest = {{.path = "ring", .allocated_kib = 8}};
  history.tmpfs({mount});
  history.tell_ends();
  history.flash(960, {"spike", "", "other"}, 90'000, 9);
  history.tick(3);
  history.end_run();
}

// Returns the names on a page, without the marks around them.
std::set<std::string> words_of(const std::string& page) {
  std::set<std::string> words;
  std::string word;
  for (const char c : page + " ") {
    const bool part = c == '_' || (std::isalnum(static_cast<unsigned char>(c)) != 0);
    if (part) word += c;
    if (part || word.empty()) continue;
    words.insert(word);
    word.clear();
  }
  return words;
}

}  // namespace

TEST_CASE("memoir-schema(7) names every table and view, and the columns of the views") {
  History history;
  record(history);
  const std::set<std::string> page = words_of(read(std::string(MEMOIR_SOURCE) + "/man/memoir-schema.7"));
  // The page names the kernel's source of these columns.
  std::set<std::string> of_kernel;
  for (const FieldName& field : kProcessFields) of_kernel.insert(field.column);
  for (const FieldName& field : kMachineFields) {
    const std::string column = field.column;
    of_kernel.insert(column.ends_with("_bp") ? column.substr(0, column.size() - 2) + "percent" : column);
  }
  const std::set<std::string> parts{"process_sample_full", "process_row_at", "process_sample_at", "process_detail_at"};
  SQLite::Database database(history.path(), SQLite::OPEN_READONLY);
  SQLite::Statement objects(database,
                            "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE "
                            "'sqlite%' ORDER BY name");
  while (objects.executeStep()) {
    const std::string type = objects.getColumn(0);
    const std::string name = objects.getColumn(1);
    CAPTURE(type, name);
    CHECK(page.contains(name));
    if (type == "table" || parts.contains(name)) continue;
    SQLite::Statement columns(database, "SELECT name FROM pragma_table_info(?) ORDER BY cid");
    columns.bind(1, name);
    while (columns.executeStep()) {
      const std::string column = columns.getColumn(0);
      CAPTURE(column);
      // The page names the same column in milliseconds.
      if (column.ends_with("_utc") && page.contains(column.substr(0, column.size() - 3) + "ms")) continue;
      const bool rolled = name.rfind("memory_", 0) == 0 && column.find("_kib") != std::string::npos;
      const bool named = page.contains(column) || of_kernel.contains(column) || rolled;
      CHECK(named);
    }
  }
}

TEST_CASE("man, if installed, formats each page without a warning") {
  if (std::system("command -v man >/dev/null 2>&1") != 0) {
    WARN("skipped: man is not installed");
    return;
  }
  const test::TemporaryDirectory directory;
  int pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(MEMOIR_SOURCE) + "/man")) {
    if (entry.path().filename() == "CMakeLists.txt") continue;
    CAPTURE(entry.path());
    ++pages;
    // man runs with the options that lintian uses.
    const std::string log = directory.path() + "/log";
    const std::string command = "LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z " +
                                entry.path().string() + " 2>" + log + " >/dev/null";
    CHECK(std::system(command.c_str()) == 0);
    CHECK(memoir::test::slurp(log).empty());
  }
  CHECK(pages >= 4);
}

}  // namespace pages_test
