// The queries of docs/sql.md and of the manual page of the schema. Each is run as printed, and must give the same
// results as the reader.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "query/history.h"
#include "query/zone_guard.h"
#include "store/events.h"
#include "store/names.h"
#include "store/reader.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace sql_page_test {

using namespace memoir;
using memoir::test::History;
using memoir::test::recorded;

namespace {

constexpr Range kAll{0, 4'000'000'000'000};
constexpr std::int64_t kAsked = History::kStart + 27 * 3'600'000 + 14 * 60'000;  // 2026-11-20 03:14

// The tick before the processes exit, in the hour from 02:50 on.
constexpr std::int64_t kEnded = History::kStart + 27 * 3'600'000 + (50 - 10) * 60'000;

using Rows = std::vector<std::string>;

// A memfd with two mappers, each of which uses half of it, and a named file.
ProcessMappings summary(std::int64_t heap_kib) {
  const auto row = [](MappingKind kind, const char* label, std::int64_t kib) {
    MappingRow made{{kind, label}, {}};
    made.use.regions = 1;
    made.use.memory.set(ProcessField::pss, kib);
    return made;
  };
  ProcessMappings summary;
  summary.summary.rows = {row(MappingKind::heap, "[heap]", heap_kib),
                          row(MappingKind::memfd, "/memfd:ring (deleted)", 20 * 1024)};
  return summary;
}

TmpfsSample shared_memory() {
  TmpfsSample mount;
  mount.mount_point = "/dev/shm";
  mount.walk = TmpfsWalk::whole;
  mount.walked_ms = History::kStart;
  mount.largest = {{.path = "d", .directory = true, .allocated_kib = 9 * 1024},
                   {.path = "d/ring", .allocated_kib = 8 * 1024, .changed_ms = History::kStart}};
  return mount;
}

// A day and a quarter: a few ticks of the first day, then ticks from 02:50 to 03:50 of the second.
void record(History& history) {
  history.begin_run();
  history.birth(10, {"nginx", "nginx: master process", "web"}, 9'000);
  history.birth(11, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/web.service"}, 80'000);
  history.birth(20, {"postgres", "postgres: main", "database", "postgres"}, 700'000);
  history.mark(20, 2'000'000);
  history.tick(5);
  history.kill();
  history.pause(27 * 3'600'000 - 10 * 60'000 - 5 * History::kInterval);
  history.begin_run();
  history.cgroup({"/system.slice/app.service", 900'000, 100'000, 0, 1'000'000, {}, {}, 717'000});
  history.cgroup({"/system.slice/web.service", 100'000, 0, 0, 1'000'000, {}, {}});
  history.cgroup({"/user.slice", 900'000, 0, 0, {}, {}, {}});
  history.oom_kills(1);
  for (const int pid : {11, 20}) history.summary(pid, summary(1000 * pid));
  history.tmpfs({shared_memory()});
  for (int minute = 0; minute < 60; ++minute) {
    history.hold(20, 700'000 + 1'000 * minute);
    if (minute % 10 == 0) history.birth(100 + minute, {"cc1plus", "cc1plus -quiet", "build", "ci"}, 90'000 + minute);
    history.machine(minute == 33 ? 9'000'000 : 3'000'000 + minute);
    if (minute == 40) history.oom_kills(3);
    if (minute == 50) {
      history.tell_ends();
      history.flash(950, {"spike", "", "other"}, 80 * 1024, 9);
      history.flash(951, {"job", "", "other"}, 20 * 1024, 0x300);
    }
    history.tick(4);
    if (minute % 10 == 0) history.death(100 + minute);
    history.tick(2);
  }
  history.end_run();
}

template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().message);
  return *std::move(result);
}

Reader& reader() {
  static const auto opened = must(Reader::open(recorded<record>().path()));
  return *opened;
}

Snapshot last() {
  return must(reader().snapshot(must(reader().tick_at(kAll.to_ms)).value().id));
}

Snapshot asked() {
  return must(reader().snapshot(must(reader().tick_at(kAsked)).value().id));
}

// Returns the rows, with '|' between the cells.
Rows rows_of(const std::string& sql) {
  SQLite::Database database(recorded<record>().path(), SQLite::OPEN_READONLY);
  SQLite::Statement statement(database, sql);
  Rows rows;
  while (statement.executeStep()) {
    std::string& row = rows.emplace_back();
    for (int i = 0; i < statement.getColumnCount(); ++i)
      row += (i == 0 ? "" : "|") + statement.getColumn(i).getString();
  }
  return rows;
}

std::string page(const char* name) {
  return memoir::test::slurp(std::string(MEMOIR_SOURCE) + "/" + name);
}

// Returns all texts between two marks.
std::vector<std::string> between(const std::string& text, const std::string& begin, const std::string& end) {
  std::vector<std::string> parts;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    const std::size_t until = text.find(end, at);
    parts.push_back(text.substr(at, until - at));
    at = until;
  }
  return parts;
}

Rows answer(std::size_t number) {
  const auto queries = between(page("docs/sql.md"), "```sql\n", "```");
  REQUIRE(queries.size() == 15);
  return rows_of(queries.at(number - 1));
}

std::string local(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(ms / 1000)));
}

// Returns the time in the format of the views.
std::string iso_text(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
}

std::int64_t kib(const ProcessState& state, ProcessField field) {
  return state.sample.memory.or_zero(field);
}

// Returns the processes sorted by PSS, the largest first.
std::vector<ProcessState> by_pss(Snapshot snapshot) {
  std::ranges::stable_sort(snapshot.processes, [](const ProcessState& a, const ProcessState& b) {
    return kib(a, ProcessField::pss) > kib(b, ProcessField::pss);
  });
  return snapshot.processes;
}

}  // namespace

TEST_CASE("sql page: 1, memory at the last tick by user") {
  std::map<std::string, std::array<std::int64_t, 2>> users;
  for (const ProcessState& state : last().processes) {
    auto& [count, pss] = users[state.process.info.user];
    ++count;
    pss += kib(state, ProcessField::pss);
  }
  Rows expected;
  for (const auto& [user, sums] : users) expected.push_back(fmt::format("{}|{}|{}|0", user, sums[0], sums[1] / 1024));
  Rows found = answer(1);
  CHECK(found.front().starts_with("postgres|"));
  std::ranges::sort(found);
  CHECK(found == expected);
}

TEST_CASE("sql page: 2 and the manual's example, memory at a time") {
  const test::ZoneGuard zone("UTC");
  Rows expected;
  Rows short_rows;
  for (const ProcessState& state : by_pss(asked())) {
    const ProcessInfo& info = state.process.info;
    const std::int64_t pss = kib(state, ProcessField::pss);
    expected.push_back(fmt::format("{}|{}|{}|{}|exact", info.key.pid, info.user, info.comm, pss / 1024));
    short_rows.push_back(fmt::format("{}|{}|{}", info.key.pid, info.comm, pss));
  }
  REQUIRE(expected.size() == 3);
  CHECK(answer(2) == expected);
  std::string manual = page("man/memoir-schema.7");
  for (std::size_t at = manual.find("\\-"); at != std::string::npos; at = manual.find("\\-", at)) manual.erase(at, 1);
  const auto examples = between(manual.substr(manual.find(".SH EXAMPLES")), ".nf\n", ".fi");
  REQUIRE(examples.size() == 1);
  CHECK(rows_of(examples.front()) == short_rows);
}

TEST_CASE("sql page: 3, the highest peaks ever") {
  const test::ZoneGuard zone("UTC");
  const std::vector<HighWater> marks = must(reader().process_marks(std::nullopt, std::nullopt, Metric::hwm, 10)).marks;
  REQUIRE(marks.size() > 5);
  Rows expected;
  for (const HighWater& mark : marks) {
    const auto process = must(load_processes_by_id(reader(), {mark.subject_id})).at(0);
    expected.push_back(fmt::format("{}[{}]|{}|{}", process.info.comm, process.info.key.pid, mark.value_kib / 1024,
                                   iso_text(mark.at_ms)));
  }
  CHECK(expected.front().starts_with("postgres[20]|1953|2026-11-19T00:00:00.000Z"));
  CHECK(answer(3) == expected);
}

TEST_CASE("sql page: 4 and 5, processes with peaks far above their usage, and shared memory") {
  CHECK(answer(4) == Rows{fmt::format("20|postgres|{}|1953|2.6", 759'000 / 1024)});
  CHECK(answer(5) == Rows{fmt::format("nginx|2|{}|{}|{}", 89'000 / 1024, 89'000 / 1024, 89'000 / 1024)});
}

TEST_CASE("sql page: 6, when the machine was shortest of memory") {
  const test::ZoneGuard zone("UTC");
  std::optional<Snapshot> shortest;
  const auto available = [](const Snapshot& snapshot) {
    return snapshot.machine.memory.or_zero(MachineField::mem_available);
  };
  for (const StoredTick& tick : must(reader().ticks(kAll))) {
    const Snapshot snapshot = must(reader().snapshot(tick.id));
    if (!shortest || available(snapshot) < available(*shortest)) shortest = snapshot;
  }
  std::ranges::sort(shortest->categories, std::greater<>(), &CategorySample::pss_kib);
  Rows expected;
  for (const CategorySample& category : shortest->categories) {
    expected.push_back(fmt::format("{}|{}|{}|{}", iso_text(shortest->tick.begin.wall_ms), category.category,
                                   category.processes, category.pss_kib / 1024));
  }
  REQUIRE(expected.size() == 2);
  CHECK(answer(6) == expected);
}

TEST_CASE("sql page: 7, processes that ran for less than a minute") {
  std::int64_t largest = 0;
  std::int64_t times = 0;
  for (const StoredProcess& process : must(load_processes(reader(), kAll))) {
    if (!process.exited_ms || *process.exited_ms - process.info.start_ms >= 60'000) continue;
    if (process.info.comm != "cc1plus") continue;  // two of them are unsampled
    ++times;
    largest = std::max<std::int64_t>(largest, 90'000 + process.info.key.pid - 100);
  }
  REQUIRE(times == 6);
  CHECK(answer(7) == Rows{fmt::format("cc1plus|6|{}", largest / 1024), "job|1|20", "spike|1|80"});
}

TEST_CASE("sql page: 8 and 9, OOM kills, and gaps") {
  const test::ZoneGuard zone("UTC");
  const std::int64_t second_run = kAsked - 24 * 60'000;
  const std::int64_t by_then = second_run + 40 * 60'000;
  CHECK(answer(8) == Rows{fmt::format("{}|{}|2", local(by_then - History::kInterval), local(by_then))});
  Rows expected;
  std::vector<Event> events = must(load_events(reader(), kAll));
  std::ranges::reverse(events);
  std::erase_if(events, [](const Event& event) { return event.kind == "oom-kill"; });
  for (const Event& event : events)
    expected.push_back(fmt::format("{}|{}|{}", local(event.at.wall_ms), event.kind, event.text));
  REQUIRE(expected.size() == 2);
  CHECK(answer(9) == expected);
}

TEST_CASE("sql page: 10, the cost of recording, hour by hour") {
  const test::ZoneGuard zone("UTC");
  CHECK(answer(10) ==
        Rows{"2026-11-20 03:00:00|300|10.0|12", "2026-11-20 02:00:00|60|10.0|12", "2026-11-19 00:00:00|5|10.0|12"});
}

TEST_CASE("sql page: 11, which unit or container is nearest to its limit") {
  CHECK(answer(11) == Rows{fmt::format("app.service|{}|700|976|90.0", 900'000 / 1024),
                           fmt::format("web.service|{}||976|10.0", 100'000 / 1024)});
}

TEST_CASE("sql page: 15, the processes of a unit over ten minutes") {
  const test::ZoneGuard zone("UTC");
  Rows expected;
  for (const StoredTick& tick : must(reader().ticks({kAsked - 10 * 60'000, kAsked}))) {
    std::int64_t count = 0;
    std::int64_t pss = 0;
    for (const ProcessState& state : must(reader().snapshot(tick.id)).processes) {
      if (state.process.info.cgroup != "/system.slice/web.service") continue;
      ++count;
      pss += kib(state, ProcessField::pss);
    }
    expected.push_back(fmt::format("{}|{}|{}", iso_text(tick.begin.wall_ms), count, pss / 1024));
  }
  REQUIRE(expected.size() == 61);
  CHECK(answer(15) == expected);
}

TEST_CASE("sql page: 14, exited processes with their status") {
  const test::ZoneGuard zone("UTC");
  CHECK(answer(14) == Rows{fmt::format("spike[950]|80|40|signal 9|{}", iso_text(kEnded - 2'000)),
                           fmt::format("job[951]|20|40|exit 3|{}", iso_text(kEnded - 2'000))});
}

TEST_CASE("sql page: 12 and 13, deleted files and the contents of tmpfs") {
  const test::ZoneGuard zone("UTC");
  CHECK(answer(12) == Rows{"memfd|/memfd:ring (deleted)|2|40|nginx[11] postgres[20]"});
  CHECK(answer(13) == Rows{fmt::format("/dev/shm/d/ring|8|{}", iso_text(History::kStart))});
}

TEST_CASE("sql page: a view gives the same rows, however its ticks are selected") {
  for (const std::string view : {"process_at", "category_at", "cgroup_at", "service_at", "machine_at"}) {
    const auto ticks = [&](const std::string& which) {
      Rows rows = rows_of("SELECT * FROM " + view + " WHERE " + which);
      std::ranges::sort(rows);
      return rows;
    };
    Rows each;
    for (int id = 150; id <= 209; ++id) {
      for (std::string& row : rows_of(fmt::format("SELECT * FROM {} WHERE tick_id = {}", view, id)))
        each.push_back(std::move(row));
    }
    std::ranges::sort(each);
    CAPTURE(view);
    REQUIRE(each.size() >= 60);
    CHECK(ticks("tick_id BETWEEN 150 AND 209") == each);
    CHECK(ticks("tick_id IN (SELECT id FROM tick WHERE id >= 150 AND id < 210)") == each);
    CHECK(ticks("wall_ms >= (SELECT wall_ms FROM tick WHERE id = 150) AND "
                "wall_ms <= (SELECT wall_ms FROM tick WHERE id = 209)") == each);
    CHECK(ticks("tick_id = (SELECT MAX(id) FROM tick)") == ticks("tick_id = 365"));
    // A tick is enough for the first row, and precedes it.
    CHECK(rows_of("SELECT * FROM " + view + " LIMIT 1") ==
          rows_of("SELECT * FROM " + view + " WHERE tick_id IN (1, 6) LIMIT 1"));
  }
}

}  // namespace sql_page_test
