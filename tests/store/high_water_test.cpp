#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <map>
#include <tuple>

#include "store/marks/mark.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

using SubjectMark = std::tuple<SubjectKind, std::string, std::string, std::optional<std::int64_t>>;

// Computes the marks from complete snapshots, without optimisation.
class Oracle {
 public:
  void see(const Snapshot& snapshot, std::optional<std::int64_t> before_ms) {
    const std::int64_t at = snapshot.tick.begin.wall_ms;
    const MarkTime time{at, before_ms.value_or(at)};
    const auto& memory = snapshot.machine.memory;
    see({SubjectKind::machine, "", "used", {}}, used_kib(memory), time, false);
    see({SubjectKind::machine, "", "swap", {}}, swap_used_kib(memory), time, false);
    see({SubjectKind::machine, "", "available", {}}, memory.get(MachineField::mem_available), time, true);
    for (const CategorySample& category : snapshot.categories) {
      see({SubjectKind::category, category.category, "pss", {}}, category.pss_kib, time, false);
      see({SubjectKind::category, category.category, "rss", {}}, category.rss_kib, time, false);
      see({SubjectKind::category, category.category, "uss", {}}, category.uss_kib, time, false);
      see({SubjectKind::category, category.category, "swap", {}}, category.swap_kib, time, false);
    }
    for (const CgroupSample& cgroup : snapshot.cgroups) {
      see({SubjectKind::cgroup, cgroup.path, "usage", {}}, cgroup.current_kib, time, false);
      see({SubjectKind::cgroup, cgroup.path, "usage_anon", {}}, cgroup.anon_kib, time, false);
      see({SubjectKind::cgroup, cgroup.path, "usage_swap", {}}, cgroup.swap_kib, time, false);
    }
    see_groups(snapshot, time);
    for (const ProcessState& state : snapshot.processes) {
      const std::string id = std::to_string(state.process.id);
      const bool first = state.process.first_ms == at;
      const std::int64_t start = state.process.info.start_ms;
      const MarkTime since{at, first ? std::min(at, before_ms ? std::max(*before_ms, start) : start) : time.before_ms};
      see({SubjectKind::process, id, "hwm", {}}, high_water_kib(state.sample.memory), since, false);
      see({SubjectKind::process, id, "pss", {}}, state.sample.memory.get(ProcessField::pss), time, false);
      see({SubjectKind::process, id, "uss", {}}, uss_kib(state.sample.memory), time, false);
      see({SubjectKind::process, id, "swap", {}}, state.sample.memory.get(ProcessField::swap), time, false);
    }
  }

  using Marks = std::map<SubjectMark, std::tuple<std::int64_t, std::int64_t, std::int64_t>>;
  Marks of(bool days) const {
    Marks marks;
    for (const auto& [key, mark] : marks_) {
      if (std::get<3>(key).has_value() == days) marks[key] = mark;
    }
    return marks;
  }

 private:
  void see_groups(const Snapshot& snapshot, MarkTime time) {
    std::map<SubjectMark, std::optional<std::int64_t>> sums;
    std::map<SubjectMark, std::optional<std::int64_t>> highest;
    const auto add = [&](SubjectKind subject, const std::string& name, const ProcessMemory& memory) {
      const auto count = [&](const char* metric, std::optional<std::int64_t> value) {
        auto& sum = sums[{subject, name, metric, {}}];
        if (value) sum = sum.value_or(0) + *value;
      };
      count("pss", memory.get(ProcessField::pss));
      count("rss", memory.get(ProcessField::rss));
      count("uss", uss_kib(memory));
      count("swap", memory.get(ProcessField::swap));
    };
    for (const ProcessState& state : snapshot.processes) {
      const std::string identity = state.process.unit + " " + state.process.identity;
      add(SubjectKind::identity, identity, state.sample.memory);
      add(SubjectKind::cgroup, state.process.info.cgroup, state.sample.memory);
      auto& hwm = highest[{SubjectKind::identity, identity, "hwm", {}}];
      hwm = std::max(hwm, high_water_kib(state.sample.memory));
    }
    sums.merge(highest);
    for (const auto& [key, sum] : sums) see(key, sum, time, false);
  }

  void see(SubjectMark key, std::optional<std::int64_t> value, MarkTime time, bool low) {
    if (!value || (!low && *value == 0)) return;
    for (const auto& day : {std::optional<std::int64_t>(), std::optional(day_of(time.at_ms))}) {
      std::get<3>(key) = day;
      const auto found = marks_.find(key);
      const bool better =
          found == marks_.end() || (low ? *value < std::get<0>(found->second) : *value > std::get<0>(found->second));
      if (better) marks_[key] = {*value, time.at_ms, time.before_ms};
    }
  }

  Marks marks_;
};

Oracle::Marks marks_of(const std::vector<HighWater>& stored) {
  Oracle::Marks marks;
  for (const HighWater& mark : stored) {
    const std::string name = mark.subject == SubjectKind::process ? std::to_string(mark.subject_id) : mark.name;
    marks[{mark.subject, name, std::string(to_string(mark.metric)), mark.day_ms}] = {mark.value_kib, mark.at_ms,
                                                                                     mark.before_ms};
  }
  return marks;
}

// Checks that marks are equal whether they are read one by one or together.
void compare_parts(Reader& reader, std::optional<Range> range) {
  std::vector<HighWater> groups = must(reader.high_water(range, kAllKinds));
  const std::vector<HighWater> all = groups;
  std::erase_if(groups, [](const HighWater& mark) { return mark.subject == SubjectKind::process; });
  const std::set kinds{SubjectKind::machine, SubjectKind::category, SubjectKind::identity, SubjectKind::cgroup};
  REQUIRE(marks_of(must(reader.high_water(range, kinds))) == marks_of(groups));
  for (const SubjectKind kind : kinds) {
    std::vector<HighWater> alone = groups;
    std::erase_if(alone, [kind](const HighWater& mark) { return mark.subject != kind; });
    REQUIRE(marks_of(must(reader.high_water(range, {kind}))) == marks_of(alone));
  }
  for (const Metric metric : {Metric::hwm, Metric::pss, Metric::uss, Metric::swap}) {
    std::map<std::int64_t, std::int64_t> highest;
    for (const HighWater& mark : all) {
      if (mark.subject != SubjectKind::process || mark.metric != metric) continue;
      highest[mark.subject_id] = std::max(highest[mark.subject_id], mark.value_kib);
    }
    const ProcessMarks whole = must(reader.process_marks(range, std::nullopt, metric, 1000));
    REQUIRE(whole.processes == static_cast<std::int64_t>(highest.size()));
    REQUIRE(whole.marks.size() == highest.size());
    for (const HighWater& mark : whole.marks) REQUIRE_OF_MANY(highest.at(mark.subject_id) == mark.value_kib);
    const ProcessMarks few = must(reader.process_marks(range, std::nullopt, metric, 3));
    REQUIRE(few.marks.size() == std::min<std::size_t>(3, highest.size()));
    for (std::size_t i = 0; i < few.marks.size(); ++i)
      REQUIRE_OF_MANY(few.marks[i].value_kib == whole.marks[i].value_kib);
  }
}

void compare(const StoreFixture& fixture) {
  const auto reader = fixture.reader();
  Oracle oracle;
  std::int64_t run = 0;
  std::optional<std::int64_t> before;
  const Range all{0, 4'000'000'000'000};
  for (const StoredTick& tick : must(reader->ticks(all))) {
    if (tick.run_id != run) before.reset();
    run = tick.run_id;
    oracle.see(must(reader->snapshot(tick.id)), before);
    before = tick.begin.wall_ms;
  }
  REQUIRE(marks_of(must(reader->high_water(std::nullopt, kAllKinds))) == oracle.of(false));
  REQUIRE(marks_of(must(reader->high_water(all, kAllKinds))) == oracle.of(true));
  const FileInfo info = must(reader->info());
  compare_parts(*reader, std::nullopt);
  compare_parts(*reader, Range{info.first_tick_ms, info.last_tick_ms});
}

// The marks in the view high_water_named.
Oracle::Marks named_marks(const StoreFixture& fixture, bool days) {
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  SQLite::Statement rows(
      database,
      "SELECT subject, name, subject_id, metric, day, unixepoch(day) * 1000, value_kib, at_ms, before_ms "
      "FROM high_water_named WHERE (day <> 'all time') = ?");
  rows.bind(1, days ? 1 : 0);
  const std::map<std::string, SubjectKind> subjects{{"machine", SubjectKind::machine},
                                                    {"category", SubjectKind::category},
                                                    {"process", SubjectKind::process},
                                                    {"identity", SubjectKind::identity},
                                                    {"cgroup", SubjectKind::cgroup}};
  Oracle::Marks marks;
  while (rows.executeStep()) {
    const SubjectKind subject = subjects.at(rows.getColumn(0).getString());
    const std::string name = subject == SubjectKind::machine   ? ""
                             : subject == SubjectKind::process ? rows.getColumn(2).getString()
                                                               : rows.getColumn(1).getString();
    const auto day = days ? std::optional(rows.getColumn(5).getInt64()) : std::nullopt;
    const auto [found, added] =
        marks.try_emplace({subject, name, rows.getColumn(3).getString(), day}, rows.getColumn(6).getInt64(),
                          rows.getColumn(7).getInt64(), rows.getColumn(8).getInt64());
    REQUIRE(added);
  }
  return marks;
}

// Checks that the view has each mark of the reader once.
void compare_names(const StoreFixture& fixture) {
  for (const bool days : {false, true}) {
    const auto marks =
        must(fixture.reader()->high_water(days ? std::optional(Range{0, 4'000'000'000'000}) : std::nullopt, kAllKinds));
    REQUIRE(named_marks(fixture, days) == marks_of(marks));
  }
}

TEST_CASE("high-water marks are right up to the last tick, over days, restarts and crashes") {
  const StoreFixture fixture;
  Moment start{1'790'000'000'000, 86'400'000};
  start.wall_ms = day_of(start.wall_ms) + kDayLengthMs - 400'000;  // midnight is near
  Simulation simulation({.processes = 20, .changing = 0.3, .births = 0.3, .start = start});
  for (const char* end : {"stopped", "", "", "reload"}) {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    for (int i = 0; i < 130; ++i) {
      must(writer->write(simulation.next()));
      if (i % 43 == 0) compare_names(fixture);
    }
    compare(fixture);
    compare_names(fixture);
    if (*end == '\0') continue;
    must(writer->end_run(simulation.now(), end));
    compare_names(fixture);
  }
  compare(fixture);
  fixture.writer();
  compare(fixture);
}

TEST_CASE("a mark of all time keeps its time after any restart of the recorder") {
  for (const bool killed : {false, true}) {
    CAPTURE(killed);
    const StoreFixture fixture;
    Simulation simulation({.processes = 4, .changing = 0, .births = 0});
    const std::int64_t high_kib = 1LL << 40;
    std::int64_t reached_ms = 0;
    for (int run = 0; run < 3; ++run) {
      const auto writer = fixture.writer();
      must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
      for (int i = 0; i < 120; ++i) {
        Tick tick = simulation.next();
        // The value is high once, and is stored a quarter of an hour later; afterwards only VmHWM is high.
        const bool high = run == 0 && i == 1;
        if (high) reached_ms = tick.begin.wall_ms;
        if (high) tick.processes[0].memory.set(ProcessField::pss, high_kib);
        if (reached_ms != 0) tick.processes[0].memory.set(ProcessField::vm_hwm, high_kib);
        must(writer->write(tick));
      }
      if (!killed) must(writer->end_run(simulation.now(), "stopped"));
    }
    fixture.writer();  // after a kill, opening a writer stores the marks
    compare_names(fixture);
    for (const char* metric : {"hwm", "pss"}) {
      CAPTURE(metric);
      SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
      SQLite::Statement mark(database,
                             "SELECT value_kib, at_ms, before_ms FROM high_water_named WHERE day = 'all time' AND "
                             "subject = 'process' AND metric = ? ORDER BY value_kib DESC LIMIT 1");
      mark.bind(1, metric);
      REQUIRE(mark.executeStep());
      CHECK(mark.getColumn(0).getInt64() == high_kib);
      CHECK(mark.getColumn(1).getInt64() == reached_ms);
      CHECK(mark.getColumn(2).getInt64() == reached_ms - 10'000);
    }
  }
}

TEST_CASE("marks of many exited processes do not wait in memory for a quarter of an hour") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 4, .changing = 0.3, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  const Tick first = simulation.next();
  must(writer->write(first));
  constexpr std::int32_t kBurst = 600;
  Tick burst = simulation.next();
  for (std::int32_t i = 0; i < kBurst; ++i) {
    ProcessSample sample = burst.processes.front();
    sample.key.pid = 1'000'000 + i;
    sample.memory.set(ProcessField::vm_hwm, 5'000'000 + i);
    burst.processes.push_back(sample);
    ProcessInfo info = first.born.front();
    info.key = sample.key;
    info.start_ms = burst.begin.wall_ms - 1'000;
    burst.born.push_back(info);
  }
  must(writer->write(burst));
  must(writer->write(simulation.next()));
  {
    SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
    SQLite::Statement stored(database, "SELECT COUNT(DISTINCT subject_id) FROM high_water WHERE subject = 2");
    REQUIRE(stored.executeStep());
    CHECK(stored.getColumn(0).getInt() >= kBurst);
  }
  compare(fixture);
  must(writer->end_run(simulation.now(), "stopped"));
  compare_names(fixture);
}

TEST_CASE("a mark of a day has the times of the ticks before and after it") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 1, .changing = 0, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  Tick tick = simulation.next();
  const std::int64_t before = tick.begin.wall_ms;
  must(writer->write(tick));
  tick = simulation.next();
  tick.processes[0].memory.set(ProcessField::vm_hwm, 1LL << 40);
  must(writer->write(tick));
  const auto marks = must(fixture.reader()->high_water(Range{before, before}, kAllKinds));
  const auto found =
      std::find_if(marks.begin(), marks.end(), [](const HighWater& mark) { return mark.metric == Metric::hwm; });
  REQUIRE(found != marks.end());
  REQUIRE(found->value_kib == 1LL << 40);
  REQUIRE(found->before_ms == before);
  REQUIRE(found->at_ms == tick.begin.wall_ms);
  REQUIRE(must(fixture.reader()->high_water(Range{before - 2 * kDayLengthMs, before - 2 * kDayLengthMs}, kAllKinds))
              .empty());
}

}  // namespace
}  // namespace memoir::test
