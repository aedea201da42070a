// Rollups store swap values in side rows, if there are any.

#include "swap_rows.h"

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "answers.h"
#include "store/copy/copy.h"
#include "store/sqlite/database.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test::swap_rows {
namespace {

constexpr Range kAll{0, 4'000'000'000'000};
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kDayMs = 86'400'000;

std::int64_t number(const std::string& path, const std::string& sql) {
  return SQLite::Database(path, SQLite::OPEN_READONLY).execAndGet(sql).getInt64();
}

template <typename Change>
void record(Writer& writer, Simulation& simulation, std::int64_t ticks, Change&& change) {
  for (std::int64_t i = 0; i < ticks; ++i) {
    must(writer.write(change(simulation.next())));
    while (must(writer.maintain()).more) continue;
  }
}

std::string word(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}|", *value) : "NULL|";
}

// The first bucket of each written row, ordered by kind, subject and time, from the reader and from the view.
std::vector<std::string> rows_by_reader(Reader& reader, Tier tier, Metric metric) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::string> found;
  for (const SubjectKind kind :
       {SubjectKind::category, SubjectKind::process, SubjectKind::identity, SubjectKind::cgroup}) {
    must(reader.history({tier, kind, {}, kAll, {metric}, true}, [&](const SubjectInterval& of) {
      const Interval& at = of.interval;
      const std::int64_t from_ms = at.from_ms - at.from_ms % bucket_ms(tier);
      const auto key = std::tuple(static_cast<std::int64_t>(kind), of.subject_id, from_ms);
      found.try_emplace(key, word(at.last) + word(at.min) + word(at.mean) + word(at.max));
    }));
  }
  std::vector<std::string> rows;
  for (const auto& [key, words] : found)
    rows.push_back(fmt::format("{}|{}|{}|{}", std::get<0>(key), std::get<1>(key), std::get<2>(key), words));
  return rows;
}

std::vector<std::string> rows_by_view(SQLite::Database& database, Tier tier, Metric metric) {
  return rows_of(database,
                 fmt::format("SELECT CASE subject WHEN 'category' THEN 1 WHEN 'process' THEN 2 WHEN 'identity' THEN 3 "
                             "ELSE 4 END AS kind, subject_id, from_ms, {1}_kib, {1}_min_kib, {1}_mean_kib, {1}_max_kib "
                             "FROM memory_{0} ORDER BY kind, subject_id, from_ms",
                             to_string(tier), to_string(metric)));
}

}  // namespace

TEST_CASE("only nonzero or unknown swap has a side row of its rollup") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 12, .changing = 0.15, .births = 0, .interval_ms = kMinuteMs});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), kMinuteMs)));
  record(*writer, simulation, 400, [](const Tick& tick) { return tick; });
  for (const TierShape& shape : kRollupTiers) {
    CHECK(number(fixture.path(), fmt::format("SELECT COUNT(*) FROM rollup_{}", shape.name)) > 0);
    CHECK(number(fixture.path(), fmt::format("SELECT COUNT(*) FROM swap_{}", shape.name)) == 0);
  }
  record(*writer, simulation, 1200, with_swap);
  CHECK(stray_swap_rows(fixture.path()) == 0);
  for (const char* what :
       {"swap_kib > 0", "swap_kib = 0 AND swap_high > 0", "swap_kib IS NULL", "swap_pss_kib IS NULL"})
    CHECK(number(fixture.path(), fmt::format("SELECT COUNT(*) FROM swap_5min WHERE {}", what)) > 0);
  const auto reader = fixture.reader();
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  for (const TierShape& shape : kRollupTiers) {
    for (const Metric metric : {Metric::swap, Metric::swap_pss}) {
      INFO(shape.name << " " << to_string(metric));
      // The reader also has rows that are not written yet.
      const auto read = rows_by_reader(*reader, shape.tier, metric);
      const std::set<std::string> expected(read.begin(), read.end());
      for (const std::string& row : rows_by_view(database, shape.tier, metric)) REQUIRE_OF_MANY(expected.contains(row));
    }
  }
}

TEST_CASE("the side row of a rollup is deleted once the rollup has no swap") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 12, .changing = 0.15, .births = 0, .interval_ms = kMinuteMs});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), kMinuteMs)));
  record(*writer, simulation, 200, [](Tick tick) {
    for (ProcessSample& sample : tick.processes) {
      for (const ProcessField field : {ProcessField::swap, ProcessField::vm_swap, ProcessField::swap_pss})
        sample.memory.clear(field);
    }
    return tick;
  });
  const std::string unknown = "SELECT COUNT(*) FROM swap_day WHERE swap_kib IS NULL";
  const std::int64_t before = number(fixture.path(), unknown);
  CHECK(before > 0);
  record(*writer, simulation, 200, [](Tick tick) {
    for (ProcessSample& sample : tick.processes) {
      for (const ProcessField field : {ProcessField::swap, ProcessField::vm_swap, ProcessField::swap_pss})
        sample.memory.set(field, 0);
    }
    return tick;
  });
  CHECK(number(fixture.path(), unknown) == 0);
  CHECK(number(fixture.path(), "SELECT COUNT(*) FROM memory_day WHERE swap_kib = 0 AND swap_pss_max_kib = 0") >=
        before);
  CHECK(stray_swap_rows(fixture.path()) == 0);
}

TEST_CASE("retention and an extract leave no side row without its rollup") {
  const StoreFixture fixture;
  constexpr std::int64_t interval_ms = 10 * kMinuteMs;
  Simulation simulation({.processes = 8, .changing = 0.3, .births = 0.1, .interval_ms = interval_ms});
  const auto writer = fixture.writer();
  RunInfo run = run_info(simulation.boot(), simulation.now(), interval_ms);
  run.retention = {.raw_ms = kDayMs, .five_minutes_ms = 2 * kDayMs, .hour_ms = 4 * kDayMs, .day_ms = 6 * kDayMs};
  must(writer->begin_run(run));
  record(*writer, simulation, 10 * kDayMs / interval_ms, with_swap);
  CHECK(stray_swap_rows(fixture.path()) == 0);
  for (const TierShape& shape : kRollupTiers) {
    const std::string first = fmt::format("SELECT MIN({}) FROM ", shape.block);
    const std::int64_t swap = number(fixture.path(), fmt::format("{}swap_{}", first, shape.name));
    CHECK(swap >= number(fixture.path(), fmt::format("{}rollup_{}", first, shape.name)));
  }
  const std::int64_t now = simulation.now().wall_ms;
  const std::string copy = fixture.folder() + "/extract.db";
  must(extract({fixture.path(), copy, Existing::replace, [](int) { return true; }},
               {now - 7 * kDayMs / 2, now - 3 * kDayMs / 2}));
  CHECK(stray_swap_rows(copy) == 0);
  SQLite::Database both(copy, SQLite::OPEN_READONLY);
  both.exec("ATTACH '" + fixture.path() + "' AS whole");
  for (const TierShape& shape : kRollupTiers) {
    const auto count = [&](const char* file) {
      const std::string sql = fmt::format(
          "SELECT COUNT(*) FROM {0}.swap_{1} WHERE ({2}, subject, subject_id, slot) IN "
          "(SELECT {2}, subject, subject_id, slot FROM main.rollup_{1})",
          file, shape.name, shape.block);
      return both.execAndGet(sql).getInt64();
    };
    INFO(shape.name);
    CHECK(count("main") > 0);
    CHECK(count("main") == count("whole"));
  }
}

}  // namespace memoir::test::swap_rows
