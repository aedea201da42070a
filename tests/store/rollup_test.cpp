#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "random_history.h"
#include "store/marks/mark.h"
#include "store/names.h"
#include "store/replay/coverage.h"
#include "store/replay/tick_stamps.h"
#include "store/rollup/timeline.h"
#include "store/samples.h"
#include "store_fixture.h"
#include "support/simulation.h"
#include "swap_rows.h"

namespace memoir::test {
namespace {

constexpr Range kWholeTime{0, 4'000'000'000'000};

// One metric of one subject in one bucket, computed by the test or read back.
struct Cell {
  std::optional<std::int64_t> min, max, last;
  std::int64_t weighted = 0;
  std::int64_t covered_ms = 0;
  std::int64_t known_ms = 0;
  std::int64_t processes = 0;
  double inexact = 0;                     // weighted by time
  std::optional<std::int64_t> max_at_ms;  // the first time of the maximum

  void see(std::optional<std::int64_t> value, std::int64_t members, std::optional<std::int64_t> at_ms) {
    processes = std::max(processes, members);
    if (!value) return;
    if (!max || *value > *max) max_at_ms = at_ms;
    min = min ? std::min(*min, *value) : *value;
    max = max ? std::max(*max, *value) : *value;
    last = value;
  }
};

constexpr auto kPss = rolled_index(Metric::pss);

using Key = std::tuple<int, std::int64_t, std::size_t, std::int64_t>;  // kind, subject, metric, start of the bucket
using Cells = std::map<Key, Cell>;
struct Level {
  std::optional<std::int64_t> kib;
  std::int64_t inexact_kib = 0;
  std::int64_t members = 0;
};
using Levels = std::map<std::tuple<int, std::int64_t, std::size_t>, Level>;

std::array<std::optional<std::int64_t>, kRollupMetrics> values_of(const ProcessMemory& memory) {
  std::array<std::optional<std::int64_t>, kRollupMetrics> values;
  for (std::size_t i = 0; i < kRollupMetrics; ++i) values.at(i) = metric_kib(memory, kRolledMetrics[i]);
  return values;
}

// Returns the values of every subject at a tick.
Levels levels_of(const Snapshot& snapshot, const std::map<std::string, std::int64_t>& ids) {
  Levels levels;
  const auto add = [&](SubjectKind kind, std::int64_t id, const ProcessSample& sample) {
    const auto values = values_of(sample.memory);
    for (std::size_t i = 0; i < kRollupMetrics; ++i) {
      Level& held = levels[{static_cast<int>(kind), id, i}];
      if (values[i]) held.kib = held.kib.value_or(0) + *values[i];
      if (i == kPss && sample.source == Source::approximate) held.inexact_kib += values[i].value_or(0);
      ++held.members;
    }
  };
  for (const ProcessState& state : snapshot.processes) {
    add(SubjectKind::process, state.process.id, state.sample);
    add(SubjectKind::identity, state.process.identity_id, state.sample);
    add(SubjectKind::category, ids.at("category " + state.process.info.category), state.sample);
    add(SubjectKind::cgroup, ids.at("cgroup " + state.process.info.cgroup), state.sample);
  }
  return levels;
}

std::map<std::string, std::int64_t> names_of(const std::string& path) {
  std::map<std::string, std::int64_t> ids;
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  for (const auto& [kind, sql] :
       {std::pair("category ", "SELECT id, name FROM category"), std::pair("cgroup ", "SELECT id, path FROM cgroup")}) {
    SQLite::Statement rows(database, sql);
    while (rows.executeStep()) ids[kind + rows.getColumn(1).getString()] = rows.getColumn(0).getInt64();
  }
  return ids;
}

std::vector<TickStamp> marks_of(Reader& reader) {
  std::map<std::int64_t, StoredRun> runs;
  for (const StoredRun& run : must(reader.runs())) runs[run.id] = run;
  std::vector<TickStamp> marks;
  for (const StoredTick& tick : must(reader.ticks(kWholeTime))) {
    const StoredRun& run = runs.at(tick.run_id);
    const auto boot = static_cast<std::int64_t>(run.boot.boot_id.back());
    marks.push_back(
        {tick.begin.wall_ms, tick.begin.boot_ms, tick.run_id, boot, run.interval_ms, tick.skipped, run.stop_reason});
  }
  return marks;
}

// Computes every bucket of every subject from complete snapshots, without optimisation.
Cells expected_cells(const StoreFixture& fixture, std::int64_t width_ms) {
  Cells cells;
  const auto reader = fixture.reader();
  const auto ids = names_of(fixture.path());
  const auto ticks = must(reader->ticks(kWholeTime));
  const auto marks = marks_of(*reader);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const Levels levels = levels_of(must(reader->snapshot(ticks[i].id)), ids);
    const std::int64_t at = marks[i].wall_ms;
    const std::int64_t until = i + 1 < marks.size() ? valid_until_ms(marks[i], marks[i + 1]) : at;
    for (const auto& [subject, state] : levels) {
      const auto cell = [&, key = subject](std::int64_t ms) -> Cell& {
        return cells[std::tuple_cat(key, std::tuple(ms - ms % width_ms))];
      };
      cell(at).see(state.kib, state.members, at);
      for (std::int64_t from = at; from < until;) {
        const std::int64_t to = std::min(until, from - from % width_ms + width_ms);
        Cell& held = cell(from);
        held.see(state.kib, state.members, from);
        held.covered_ms += to - from;
        if (state.kib) held.known_ms += to - from, held.weighted += *state.kib * (to - from);
        held.inexact += static_cast<double>(state.inexact_kib) * static_cast<double>(to - from);
        from = to;
      }
    }
  }
  return cells;
}

Cells read_cells(Reader& reader, Tier tier) {
  Cells cells;
  const std::int64_t width = bucket_ms(tier);
  for (const SubjectKind kind :
       {SubjectKind::category, SubjectKind::process, SubjectKind::identity, SubjectKind::cgroup}) {
    const std::vector<Metric> metrics(kRolledMetrics.begin(), kRolledMetrics.end());
    must(reader.history({tier, kind, {}, kWholeTime, metrics, true}, [&](const SubjectInterval& of) {
      const Interval& bucket = of.interval;
      const std::int64_t count = std::max<std::int64_t>((bucket.until_ms - bucket.from_ms + width - 1) / width, 1);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t start = bucket.from_ms - bucket.from_ms % width + i * width;
        Cell& cell = cells[{static_cast<int>(kind), of.subject_id, rolled_index(of.metric), start}];
        const std::int64_t covered_ms = bucket.covered_ms / count;
        cell.processes = std::max(cell.processes, of.processes);
        cell.covered_ms += covered_ms;
        if (!bucket.last) continue;
        cell.see(bucket.max, 0, bucket.max_at_ms);
        cell.see(bucket.min, 0, {});
        cell.see(bucket.last, 0, {});
        cell.known_ms += covered_ms;
        cell.weighted += bucket.mean.value() * covered_ms;
        if (covered_ms > 0)
          cell.inexact += (1 - bucket.exact.value()) * static_cast<double>(bucket.mean.value() * covered_ms);
      }
    }));
  }
  return cells;
}

// Compares all buckets. A process younger than a bucket may have no rows of its own, or none at its start.
void compare(const StoreFixture& fixture, Tier tier) {
  const Cells expected = expected_cells(fixture, bucket_ms(tier));
  const auto reader = fixture.reader();
  const Cells found = read_cells(*reader, tier);
  std::map<std::int64_t, StoredProcess> processes;
  for (const StoredProcess& process : must(load_processes(*reader, kWholeTime))) processes[process.id] = process;
  std::size_t missing = 0;
  std::map<std::pair<int, std::int64_t>, std::int64_t> first_seen;
  for (const auto& [key, cell] : expected) {
    const auto& [kind, subject, metric, start] = key;
    const std::int64_t first = first_seen.try_emplace({kind, subject}, start).first->second;
    const bool process = kind == static_cast<int>(SubjectKind::process);
    const std::int64_t since = process ? processes.at(subject).info.start_ms : first;
    const std::int64_t min_ms = process && tier == Tier::five_minutes ? 3 * bucket_ms(tier) : bucket_ms(tier);
    const bool young = start < since + min_ms + bucket_ms(tier);
    if (young && (process || tier != Tier::five_minutes)) continue;
    const auto other = found.find(key);
    if (other == found.end()) {
      ++missing;
      // The process ran too briefly for rows of its own.
      REQUIRE_OF_MANY(process || tier != Tier::five_minutes);
      continue;
    }
    const Cell& there = other->second;
    const bool same = there.min == cell.min && there.max == cell.max && there.last == cell.last &&
                      there.processes == cell.processes &&
                      there.covered_ms == std::min(cell.covered_ms, bucket_ms(tier));
    if (!same) {
      INFO(to_string(tier) << " kind " << kind << " subject " << subject << " metric " << metric << " at " << start);
      REQUIRE(there.min == cell.min);
      REQUIRE(there.max == cell.max);
      REQUIRE(there.last == cell.last);
      REQUIRE(there.processes == cell.processes);
      REQUIRE(there.covered_ms == std::min(cell.covered_ms, bucket_ms(tier)));
    }
    if (cell.known_ms > 0 && cell.covered_ms <= bucket_ms(tier)) {
      const double mean = static_cast<double>(cell.weighted) / static_cast<double>(cell.known_ms);
      const double got = static_cast<double>(there.weighted) / static_cast<double>(there.known_ms);
      REQUIRE_OF_MANY(std::abs(mean - got) < 3);
      const double inexact = cell.inexact / static_cast<double>(std::max<std::int64_t>(cell.weighted, 1));
      const double stored = there.inexact / static_cast<double>(std::max<std::int64_t>(there.weighted, 1));
      REQUIRE_OF_MANY(std::abs(inexact - stored) < 0.001);
      REQUIRE_OF_MANY((inexact == 0) == (stored == 0));
    }
    const bool keeps_time = metric == kPss && !process && tier != Tier::five_minutes;
    REQUIRE_OF_MANY(there.max_at_ms == (keeps_time ? cell.max_at_ms : std::nullopt));
  }
  for (const auto& [key, cell] : found) REQUIRE_OF_MANY(expected.count(key) == 1);
  if (tier == Tier::five_minutes) REQUIRE(missing * 20 < expected.size());
}

// Makes smaps_rollup unreadable for some processes, and for others for a while.
Tick half_readable(Tick tick) {
  for (ProcessSample& sample : tick.processes) {
    const bool barred = sample.key.pid % 3 == 0 || (sample.key.pid % 3 == 1 && tick.begin.wall_ms / 7'000'000 % 2 == 0);
    if (barred && sample.source == Source::exact) sample.source = Source::approximate;
  }
  return tick;
}

void finish_maintenance(Writer& writer) {
  while (must(writer.maintain()).more) continue;
}

TEST_CASE("the buckets of every tier equal the snapshots, however far rollups have progressed") {
  const StoreFixture fixture;
  RandomHistory chance(11);
  Simulation simulation({.processes = 12, .changing = 0.15, .births = 0.2, .interval_ms = 60'000});
  for (int run = 0; run < 4; ++run) {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
    for (int i = 0; i < 100; ++i) {
      must(writer->write(with_swap(half_readable(simulation.next()))));
      if (chance.chance(0.03)) simulation.pause(chance.number(100'000, 8'000'000));
      if (chance.chance(0.7)) must(writer->maintain());
    }
    compare(fixture, Tier::five_minutes);
    compare(fixture, Tier::hour);
    if (run % 2 == 0) must(writer->end_run(simulation.now(), "stopped"));
    if (run == 1) simulation.reboot();
    simulation.pause(700'000);
  }
  finish_maintenance(*fixture.writer());
  for (const TierShape& shape : kRollupTiers) compare(fixture, shape.tier);
  CHECK(stray_swap_rows(fixture.path()) == 0);
}

TEST_CASE("the views of rollups have the exact part, and the times of the maxima") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 12, .changing = 0.15, .births = 0, .interval_ms = 60'000});
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
    for (int i = 0; i < 300; ++i) must(writer->write(half_readable(simulation.next())));
    finish_maintenance(*writer);
  }
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  SQLite::Statement memory(database,
                           "SELECT pss_inexact_percent, pss_max_at_ms FROM memory_hour WHERE subject = 'category' AND "
                           "subject_id = ? AND from_ms = ?");
  std::set<std::int64_t> shares;
  const HistoryQuery hours{Tier::hour, SubjectKind::category, {}, kWholeTime, {Metric::pss}, true};
  must(fixture.reader()->history(hours, [&](const SubjectInterval& of) {
    const Interval& pss = of.interval;
    memory.reset();
    memory.bind(1, of.subject_id);
    memory.bind(2, pss.from_ms);
    if (!memory.executeStep()) return;  // the row is not written yet
    shares.insert(std::llround(memory.getColumn(0).getDouble() * 100));
    REQUIRE(std::abs(1 - pss.exact.value() - memory.getColumn(0).getDouble() / 100) < 0.00001);
    REQUIRE(pss.max_at_ms == memory.getColumn(1).getInt64());
  }));
  REQUIRE(shares.size() > 3);
  SQLite::Statement machine(database, "SELECT max_at_ms FROM machine_metric_hour WHERE metric = ? AND from_ms = ?");
  const HistoryQuery used{Tier::hour, SubjectKind::machine, {}, kWholeTime, {Metric::used}, true};
  must(fixture.reader()->history(used, [&](const SubjectInterval& of) {
    machine.reset();
    machine.bind(1, "used_kib");
    machine.bind(2, of.interval.from_ms);
    if (machine.executeStep()) REQUIRE(of.interval.max_at_ms == machine.getColumn(0).getInt64());
  }));
}

TEST_CASE("a recorder killed between two steps of a rollup continues with the next step") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 600, .changing = 0.9, .births = 0, .interval_ms = 600'000});
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 600'000)));
    for (int i = 0; i < 9; ++i) must(writer->write(half_readable(simulation.next())));
  }
  const StoreFixture whole;
  for (const char* suffix : {"", "-wal"}) std::filesystem::copy_file(fixture.path() + suffix, whole.path() + suffix);
  finish_maintenance(*whole.writer());
  int pieces = 0;
  while (must(fixture.writer()->maintain()).more) {
    ++pieces;
    if (pieces % 3 == 0) compare(fixture, Tier::hour);
  }
  REQUIRE(pieces > 4);
  compare(fixture, Tier::five_minutes);
  const auto rows = [](const std::string& path, const char* table) {
    return SQLite::Database(path, SQLite::OPEN_READONLY)
        .execAndGet(std::string("SELECT COUNT(*) || ' ' || TOTAL(anon_kib) || ' ' || TOTAL(covered_ms) || ' ' || "
                                "TOTAL(pss_inexact_bp) FROM ") +
                    table)
        .getString();
  };
  for (const char* table : {"rollup_5min", "rollup_hour", "rollup_day"})
    REQUIRE(rows(fixture.path(), table) == rows(whole.path(), table));
}

TEST_CASE("a half-written rollup is discarded after another program deleted its ticks, and recording continues") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 30, .births = 1, .interval_ms = 600'000});
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 600'000)));
    for (int i = 0; i < 9; ++i) must(writer->write(simulation.next()));
  }
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
  const auto is_half_written = [&] {
    return database.execAndGet("SELECT target_tick_id <> tick_id FROM rollup_progress").getInt() != 0;
  };
  for (int i = 0; i < 10 && !is_half_written(); ++i) must(fixture.writer()->maintain());
  REQUIRE(is_half_written());
  database.exec("DELETE FROM tick WHERE id < (SELECT target_tick_id FROM rollup_progress)");
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 600'000)));
  must(writer->write(simulation.next()));
  int pieces = 0;
  while (must(writer->maintain()).more && pieces < 1000) ++pieces;
  CHECK(pieces < 1000);
  CHECK_FALSE(is_half_written());
}

TEST_CASE("setting the clock adds no rows to skipped buckets and removes none") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 8, .changing = 0.2, .births = 0, .interval_ms = 60'000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
  for (const std::int64_t step :
       std::initializer_list<std::int64_t>{0, 30 * kDayLengthMs, -31 * kDayLengthMs, 7'000'000, -3'000'000}) {
    simulation.step_wall(step);
    for (int i = 0; i < 100; ++i) must(writer->write(simulation.next()));
    finish_maintenance(*writer);
  }
  const auto reader = fixture.reader();
  for (const TierShape& shape : kRollupTiers) {
    const Tier tier = shape.tier;
    std::int64_t covered = 0;
    must(reader->history({tier, SubjectKind::category, {}, kWholeTime, {Metric::pss}, true},
                         [&](const SubjectInterval& of) { covered = std::max(covered, of.interval.covered_ms); }));
    REQUIRE(covered > 0);
    REQUIRE(covered <= 100 * 60'000 + bucket_ms(tier));
  }
  const auto ticks = must(reader->ticks(kWholeTime));
  REQUIRE(ticks.size() == 500);
  REQUIRE(std::is_sorted(ticks.begin(), ticks.end(),
                         [](const StoredTick& a, const StoredTick& b) { return a.begin.boot_ms < b.begin.boot_ms; }));
}

TEST_CASE("time skipped by a clock step is in no bucket, and values before it end there") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 8, .changing = 0.1, .births = 0, .interval_ms = 60'000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
  for (const std::int64_t step : std::initializer_list<std::int64_t>{0, 47'000, 4'000'000, 90'000}) {
    simulation.step_wall(step);
    for (int i = 0; i < 100; ++i) must(writer->write(simulation.next()));
  }
  for (const TierShape& shape : kRollupTiers) compare(fixture, shape.tier);
  finish_maintenance(*writer);
  for (const TierShape& shape : kRollupTiers) compare(fixture, shape.tier);
}

TEST_CASE("the buckets of a subject are contiguous, even if the written rows end within a bucket") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 6, .changing = 0.3, .births = 0, .interval_ms = 60'000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
  for (int i = 0; i < 400; ++i) {
    must(writer->write(simulation.next()));
    finish_maintenance(*writer);
    if (i % 50 != 49) continue;
    const auto reader = fixture.reader();
    const StoredTick last = must(reader->tick_at(simulation.now().wall_ms)).value();
    for (const TierShape& shape : kRollupTiers) {
      const Tier tier = shape.tier;
      CAPTURE(i, to_string(tier));
      std::map<std::int64_t, std::int64_t> until;
      std::map<std::int64_t, std::int64_t> covered;
      const HistoryQuery question{tier, SubjectKind::category, {}, kWholeTime, {Metric::pss}, true};
      must(reader->history(question, [&](const SubjectInterval& of) {
        const Interval& bucket = of.interval;
        const auto [before, first] = until.try_emplace(of.subject_id, bucket.from_ms);
        REQUIRE(bucket.from_ms >= before->second);
        REQUIRE(bucket.covered_ms <= bucket.until_ms - bucket.from_ms);
        before->second = bucket.until_ms;
        covered[of.subject_id] += bucket.covered_ms;
      }));
      REQUIRE(!until.empty());
      for (const auto& [id, end] : until) REQUIRE(end >= last.begin.wall_ms);
    }
  }
}

TEST_CASE("the machine's metrics are rolled up like those of processes") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 5, .interval_ms = 30'000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 30'000)));
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> extremes;  // minimum and maximum of each bucket
  for (int i = 0; i < 400; ++i) {
    const Tick tick = simulation.next();
    const std::int64_t free = tick.machine.memory.get(MachineField::mem_free).value();
    const auto [found, added] = extremes.try_emplace(tick.begin.wall_ms / kPieceMs * kPieceMs, free, free);
    auto& [low, high] = found->second;
    low = std::min(low, free);
    high = std::max(high, free);
    must(writer->write(tick));
    must(writer->maintain());
  }
  finish_maintenance(*writer);
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> found;
  const Metric mem_free = metric_of(MachineField::mem_free);
  must(fixture.reader()->history({Tier::five_minutes, SubjectKind::machine, {}, kWholeTime, {mem_free}, true},
                                 [&](const SubjectInterval& of) {
                                   REQUIRE(of.metric == mem_free);
                                   const Interval& bucket = of.interval;
                                   const std::int64_t start = bucket.from_ms / kPieceMs * kPieceMs;
                                   const auto [there, added] = found.try_emplace(start, *bucket.min, *bucket.max);
                                   there->second.first = std::min(there->second.first, *bucket.min);
                                   there->second.second = std::max(there->second.second, *bucket.max);
                                 }));
  REQUIRE(found.size() == extremes.size());
  for (const auto& [start, extreme] : extremes) {
    // The values of the previous bucket's last tick are still valid at the start of this bucket.
    REQUIRE(found.at(start).first <= extreme.first);
    REQUIRE(found.at(start).second >= extreme.second);
  }
}

TEST_CASE("the machine's peaks keep their time in every tier, written or not") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 2, .interval_ms = 30'000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 30'000)));
  for (int i = 0; i < 500; ++i) must(writer->write(simulation.next()));
  const auto times_of = [&](Tier tier) {
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> expected;  // maximum and its time, by bucket
    must(visit_samples(*fixture.reader(), kWholeTime, [&](const SampleSpan<MachineMemory>& held) {
      const std::int64_t used = used_kib(*held.sample).value();
      const std::int64_t width = bucket_ms(tier);
      for (std::int64_t at = held.from_ms; at == held.from_ms || at < held.until_ms; at = (at / width + 1) * width) {
        const auto [there, added] = expected.try_emplace(at / width, used, at);
        if (used > there->second.first) there->second = {used, at};
      }
    }));
    return expected;
  };
  for (const bool written : {false, true}) {
    if (written) finish_maintenance(*writer);
    for (const TierShape& shape : kRollupTiers) {
      const Tier tier = shape.tier;
      std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> high;
      std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> low;
      const Metric available = metric_of(MachineField::mem_available);
      const std::vector<Metric> metrics{Metric::used, available, metric_of(MachineField::mem_free)};
      must(fixture.reader()->history(
          {tier, SubjectKind::machine, {}, kWholeTime, metrics, true}, [&](const SubjectInterval& of) {
            const Interval& value = of.interval;
            const std::int64_t number = value.from_ms / bucket_ms(tier);
            if (of.metric == Metric::used) {
              const auto [there, added] = high.try_emplace(number, *value.max, value.max_at_ms.value());
              if (*value.max > there->second.first) there->second = {*value.max, value.max_at_ms.value()};
            } else if (of.metric == available) {
              const auto [there, added] = low.try_emplace(number, *value.min, value.min_at_ms.value());
              if (*value.min < there->second.first) there->second = {*value.min, value.min_at_ms.value()};
            } else {
              REQUIRE_OF_MANY((!value.max_at_ms && !value.min_at_ms));
            }
          }));
      CAPTURE(written, to_string(tier));
      const auto expected = times_of(tier);
      REQUIRE(expected.size() >= (tier == Tier::day ? 1u : 4u));
      REQUIRE(high == expected);
      REQUIRE(low.size() == high.size());
      for (const auto& [number, lowest] : low) REQUIRE_OF_MANY(lowest.second == high.at(number).second);
    }
  }
}

TEST_CASE("every size of the machine is rolled up, and a query for another size is an error") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 2, .interval_ms = 30'000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 30'000)));
  for (int i = 0; i < 20; ++i) {
    Tick tick = simulation.next();
    for (const MachineField field : kMachineSizes) tick.machine.memory.set(field, 1000 + static_cast<int>(field));
    must(writer->write(tick));
  }
  std::vector<Metric> metrics;
  for (const MachineField field : kMachineSizes) metrics.push_back(metric_of(field));
  std::map<Metric, std::int64_t> means;
  const auto reader = fixture.reader();
  must(reader->history({Tier::five_minutes, SubjectKind::machine, {}, kWholeTime, metrics, true},
                       [&](const SubjectInterval& of) { means[of.metric] = of.interval.mean.value_or(0); }));
  for (const MachineField field : kMachineSizes) {
    CAPTURE(info_of(metric_of(field)).column);
    CHECK(means[metric_of(field)] == 1000 + static_cast<int>(field));
  }
  const auto fails = [&](Tier tier, SubjectKind kind, std::vector<Metric> asked) {
    const Status none = reader->history({tier, kind, {}, kWholeTime, std::move(asked)},
                                        [](const SubjectInterval&) { FAIL("the query returned a partial answer"); });
    REQUIRE_FALSE(none);
    return none.error().message;
  };
  const Metric pgfault = metric_of(MachineField::pgfault);
  CHECK(fails(Tier::hour, SubjectKind::machine, {Metric::used, pgfault}) ==
        "'pgfault' of the machine is not rolled up");
  CHECK(fails(Tier::hour, SubjectKind::process, {Metric::hwm}) == "'hwm_kib' of a process is not rolled up");
  CHECK(fails(Tier::hour, SubjectKind::process, {Metric::used}) == "a process has no used_kib");
  CHECK(fails(Tier::raw, SubjectKind::cgroup, {Metric::pss}) == "ticks have no values of a cgroup");
  CHECK(fails(Tier::raw, SubjectKind::identity, {Metric::pss}) == "ticks have no values of an identity");
  CHECK(fails(Tier::raw, SubjectKind::category, {Metric::usage}) == "a category has no usage_kib");
  CHECK(fails(Tier::hour, SubjectKind::cgroup, {Metric::usage}) == "'usage_kib' of a cgroup is not rolled up");
}

// Deletes rolled-up ticks and keeps the stretches, which is the effect of retention on coverage.
void forget_ticks(const std::string& path, std::int64_t kept) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE);
  database.exec("DELETE FROM tick WHERE id < (SELECT tick_id FROM rollup_progress) - " + std::to_string(kept));
}

Coverage coverage_of_ticks(const std::string& path, Range range) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  CoverageBuilder coverage(range);
  TickStamps marks(database, 0, INT64_MAX);
  while (marks.step()) coverage.add(marks.mark());
  return coverage.finish();
}

void require_same(const Coverage& found, const Coverage& expected) {
  INFO("from " << expected.asked.from_ms << " to " << expected.asked.to_ms);
  REQUIRE(found.recorded_ms == expected.recorded_ms);
  REQUIRE(found.gaps.size() == expected.gaps.size());
  for (std::size_t gap = 0; gap < found.gaps.size(); ++gap) {
    REQUIRE(found.gaps[gap].from_ms == expected.gaps[gap].from_ms);
    REQUIRE(found.gaps[gap].to_ms == expected.gaps[gap].to_ms);
    REQUIRE(found.gaps[gap].reason == expected.gaps[gap].reason);
  }
}

// Queries at several stages: some ticks are in stretches and others are not, some stretches still have their ticks and
// others do not, and the wall clock was set.
TEST_CASE("coverage and the reasons of gaps are known after ticks expire") {
  const StoreFixture fixture;
  const std::uint32_t seed = GENERATE(5u, 10u, 34u, 48u, 113u, 208u);
  CAPTURE(seed);
  RandomHistory chance(seed);
  Simulation simulation({.processes = 2, .interval_ms = 60'000});
  for (int run = 0; run < 5; ++run) {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
    for (int i = 0; i < 80; ++i) {
      must(writer->write(simulation.next()));
      if (chance.chance(0.04)) simulation.pause(chance.number(100'000, 5'000'000));
      if (chance.chance(0.02)) simulation.step_wall(chance.number(-2'000'000, 2'000'000));
    }
    if (run != 2) must(writer->end_run(simulation.now(), "stopped"));
    if (run == 1) simulation.reboot();
    simulation.pause(500'000);
    if (run < 4) finish_maintenance(*writer);
  }
  const auto ticks = must(fixture.reader()->ticks(kWholeTime));
  const FileInfo before = must(fixture.reader()->info());
  std::vector<Range> ranges{kWholeTime};
  for (int i = 0; i < 40; ++i) {
    const std::int64_t from = ticks.front().begin.wall_ms + chance.number(-5'000'000, 40'000'000);
    ranges.push_back({from, from + chance.number(0, 30'000'000)});
  }
  std::vector<Coverage> coverages;
  for (const Range& range : ranges) {
    const Coverage& expected = coverages.emplace_back(coverage_of_ticks(fixture.path(), range));
    const Coverage found = must(fixture.reader()->coverage(range));
    require_same(found, expected);
    REQUIRE(found.ticks == expected.ticks);
    REQUIRE(found.runs == expected.runs);
  }
  forget_ticks(fixture.path(), 20);
  const FileInfo after = must(fixture.reader()->info());
  REQUIRE(after.ticks == before.ticks);
  REQUIRE(after.first_tick_ms == before.first_tick_ms);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Coverage found = must(fixture.reader()->coverage(ranges[i]));
    require_same(found, coverages[i]);
    REQUIRE(std::abs(found.ticks - coverages[i].ticks) <= 3 + coverages[i].runs);
  }
}

}  // namespace
}  // namespace memoir::test
