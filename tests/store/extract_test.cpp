// An extract gives the same answers within its range as the file, and has no other data.

#include <SQLiteCpp/SQLiteCpp.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <random>
#include <tuple>

#include "answers.h"
#include "random_history.h"
#include "store/copy/copy.h"
#include "store/events.h"
#include "store/names.h"
#include "store/samples.h"
#include "support/simulation.h"
#include "swap_rows.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMinuteMs = 60'000;

std::unique_ptr<Reader> extracted(const StoreFixture& fixture, Range range) {
  must(extract({fixture.path(), fixture.folder() + "/extract.db", Existing::replace, [](int) { return true; }}, range));
  return must(Reader::open(fixture.folder() + "/extract.db"));
}

// Records runs with reboots, lost ticks and odd values.
void record(const StoreFixture& fixture, RandomHistory& history, int ticks) {
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(history.boot(), history.now())));
  for (int i = 0; i < ticks; ++i) {
    must(writer->write(history.next()));
    if (history.chance(0.02)) history.lose_tick();
    if (!history.chance(0.02)) continue;
    must(writer->end_run(history.now(), "stopped"));
    history.restart(history.chance(0.5));
    must(writer->begin_run(run_info(history.boot(), history.now())));
  }
  must(writer->end_run(history.now(), "stopped"));
}

std::vector<std::string> step_words(Reader& reader, Range range) {
  std::vector<std::string> steps;
  must(visit_samples(reader, range, [&](const SampleSpan<ProcessSample>& held) {
    steps.push_back(fmt::format("{} {}..{} {} {}", held.subject_id, held.from_ms, held.until_ms,
                                to_string(held.sample->source), high_water_kib(held.sample->memory).value_or(-1)));
  }));
  return steps;
}

std::string coverage_words(const Coverage& coverage) {
  std::string words = fmt::format("{} {} {}", coverage.ticks, coverage.recorded_ms, coverage.runs);
  for (const Gap& gap : coverage.gaps) words += fmt::format(" {}..{} {}", gap.from_ms, gap.to_ms, gap.reason);
  return words;
}

TEST_CASE("within its range an extract gives the same answers as the file") {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const StoreFixture fixture;
    RandomHistory history(seed);
    record(fixture, history, 250);
    const auto whole = fixture.reader();
    const FileInfo info = must(whole->info());
    for (int i = 0; i < 3; ++i) {
      Range range{history.number(info.first_tick_ms, info.last_tick_ms), 0};
      range.to_ms = history.number(range.from_ms, info.last_tick_ms);
      const std::vector<StoredTick> ticks = must(whole->ticks(range));
      if (ticks.empty()) continue;
      CAPTURE(range.from_ms, range.to_ms);
      const auto part = extracted(fixture, range);
      REQUIRE(must(part->ticks(range)).size() == ticks.size());
      REQUIRE(stray_swap_rows(fixture.folder() + "/extract.db") == 0);
      for (std::size_t at = 0; at < ticks.size(); at += 1 + ticks.size() / 10) {
        REQUIRE(sample_words(must(part->snapshot(ticks[at].id))) == sample_words(must(whole->snapshot(ticks[at].id))));
      }
      REQUIRE(must(load_events(*part, range)).size() == must(load_events(*whole, range)).size());
      // If the clock was set back, the last tick may precede the range, because its values are still valid at the
      // range's start.
      if (must(part->info()).last_tick_ms != ticks.back().begin.wall_ms) continue;
      // The extract has no data after the range's last tick.
      const Range known{range.from_ms, ticks.back().begin.wall_ms};
      REQUIRE(step_words(*part, known) == step_words(*whole, known));
      REQUIRE(coverage_words(must(part->coverage(known))) == coverage_words(must(whole->coverage(known))));
    }
  }
}

// Returns the minimum, maximum and mean of each subject, metric and bucket, however the bucket is divided into rows.
std::vector<std::string> bucket_words(Reader& reader, Tier tier, SubjectKind kind, Range range) {
  struct Sum {
    std::int64_t min = INT64_MAX;
    std::int64_t max = INT64_MIN;
    double held = 0;
    double covered_ms = 0;
  };
  std::map<std::tuple<std::int64_t, Metric, std::int64_t>, Sum> sums;
  const bool machine = kind == SubjectKind::machine;
  HistoryQuery question{tier, kind, {}, range, {machine ? Metric::used : Metric::anon}, true};
  must(reader.history(question, [&](const SubjectInterval& of) {
    if (!of.interval.mean) return;
    const std::int64_t width_ms = bucket_ms(tier);
    for (std::int64_t at = of.interval.from_ms - of.interval.from_ms % width_ms; at < of.interval.until_ms;
         at += width_ms) {
      const Interval part = clipped(of.interval, at, at + width_ms);
      Sum& sum = sums[{of.subject_id, of.metric, at}];
      sum.min = std::min(sum.min, *part.min);
      sum.max = std::max(sum.max, *part.max);
      sum.held += held_over(part);
      sum.covered_ms += static_cast<double>(part.covered_ms);
    }
  }));
  std::vector<std::string> words;
  for (const auto& [key, sum] : sums)
    words.push_back(fmt::format("{} {} {}..{} {:.2g}", std::get<0>(key), std::get<2>(key), sum.min, sum.max,
                                sum.covered_ms > 0 ? sum.held / sum.covered_ms : 0));
  return words;
}

TEST_CASE("a complete extract has the buckets of its file, however the clock was set") {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const StoreFixture fixture;
    Simulation simulation({.processes = 5, .changing = 0.3, .births = 0.05, .interval_ms = kMinuteMs, .seed = seed});
    std::mt19937 engine(seed);
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), kMinuteMs)));
    for (int i = 0; i < 600; ++i) {
      must(writer->write(simulation.next(i % 60 == 0)));
      while (must(writer->maintain()).more) continue;
      if (engine() % 100 == 0) simulation.step_wall((static_cast<std::int64_t>(engine() % 10'000) - 3'000) * 1000);
    }
    const auto whole = fixture.reader();
    const auto part = extracted(fixture, {0, 4'000'000'000'000});
    const Range all{1'700'000'000'000, 1'900'000'000'000};
    for (const Tier tier : {Tier::five_minutes, Tier::hour, Tier::day}) {
      for (const SubjectKind kind : {SubjectKind::machine, SubjectKind::process, SubjectKind::identity}) {
        CAPTURE(tier, kind);
        CHECK(bucket_words(*part, tier, kind, all) == bucket_words(*whole, tier, kind, all));
      }
    }
  }
}

TEST_CASE("an extract has nothing from outside its range") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 12, .changing = 0.3, .births = 0.5, .interval_ms = kMinuteMs});
  const std::int64_t begin = simulation.now().wall_ms;
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), kMinuteMs)));
    for (int i = 0; i < 600; ++i) must(writer->write(simulation.next()));
    must(writer->write_event({simulation.now(), "gap", "after the range"}));
  }
  const Range range{begin + 200 * kMinuteMs, begin + 300 * kMinuteMs};
  const auto part = extracted(fixture, range);
  const FileInfo info = must(part->info());
  REQUIRE(info.first_tick_ms == begin + 180 * kMinuteMs);  // the keyframe that the range needs
  REQUIRE(info.last_tick_ms == range.to_ms);
  REQUIRE(must(part->runs()).size() == 1);
  REQUIRE(must(part->runs()).front().stop_reason == "copied");
  REQUIRE(must(part->runs()).front().first_tick_ms == info.first_tick_ms);
  for (const StoredProcess& process : must(load_processes(*part, {0, begin * 2}))) {
    CHECK(process.first_ms <= range.to_ms);
    CHECK(process.last_ms >= info.first_tick_ms);
    CHECK(process.last_ms <= range.to_ms);
    CHECK(process.exited_ms.value_or(0) <= range.to_ms);
  }
  for (const HighWater& mark : must(part->high_water(std::nullopt, kAllKinds))) {
    CHECK(mark.at_ms >= info.first_tick_ms);
    CHECK(mark.at_ms <= range.to_ms);
  }
  SQLite::Database file(fixture.folder() + "/extract.db", SQLite::OPEN_READONLY);
  for (const char* names : {"user", "command", "category", "cgroup", "identity"}) {
    CAPTURE(names);
    const std::string unused =
        fmt::format("SELECT COUNT(*) FROM {} WHERE id NOT IN (SELECT {}_id FROM process)", names, names);
    CHECK(file.execAndGet(unused).getInt() == 0);
  }
  CHECK(file.execAndGet("SELECT COUNT(*) FROM event").getInt() == 0);
  CHECK(file.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

TEST_CASE("the marks of an extract are those of its range") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 12, .changing = 0.3, .births = 0.5, .interval_ms = kMinuteMs});
  const std::int64_t begin = simulation.now().wall_ms;
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), kMinuteMs)));
    for (int i = 0; i < 600; ++i) must(writer->write(simulation.next()));
  }
  const auto part = extracted(fixture, {begin + 240 * kMinuteMs, begin + 300 * kMinuteMs});
  std::int64_t used = 0;
  std::int64_t pss = 0;
  for (const StoredTick& tick : must(part->ticks({0, begin * 2}))) {
    const Snapshot snapshot = must(part->snapshot(tick.id));
    used = std::max(used, used_kib(snapshot.machine.memory).value_or(0));
    for (const ProcessState& state : snapshot.processes)
      pss = std::max(pss, state.sample.memory.get(ProcessField::pss).value_or(0));
  }
  std::int64_t marked_used = 0;
  std::int64_t marked_pss = 0;
  for (const HighWater& mark : must(part->high_water(std::nullopt, kAllKinds))) {
    if (mark.subject == SubjectKind::machine && mark.metric == Metric::used) marked_used = mark.value_kib;
    if (mark.subject == SubjectKind::process && mark.metric == Metric::pss)
      marked_pss = std::max(marked_pss, mark.value_kib);
  }
  REQUIRE(marked_used == used);
  REQUIRE(marked_pss == pss);
}

TEST_CASE("an extract of all that was recorded has every row of every table") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 12, .changing = 0.3, .births = 0.5, .interval_ms = kMinuteMs});
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), kMinuteMs)));
    for (int i = 0; i < 300; ++i) must(writer->write(simulation.next()));
    must(writer->write_event({simulation.now(), "gap", "x"}));
    for (int step = 0; step < 100; ++step) static_cast<void>(must(writer->maintain()));
    must(writer->end_run(simulation.now(), "stopped"));
  }
  const auto part = extracted(fixture, {0, 4'000'000'000'000});
  REQUIRE(difference(all_answers(*part), all_answers(*fixture.reader())) == "");
  SQLite::Database whole(fixture.path(), SQLite::OPEN_READONLY);
  SQLite::Database copy(fixture.folder() + "/extract.db", SQLite::OPEN_READONLY);
  // store_size describes the file itself.
  SQLite::Statement tables(
      whole, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'store_size' ORDER BY name");
  while (tables.executeStep()) {
    const std::string table = tables.getColumn(0).getString();
    CAPTURE(table);
    const std::string count = "SELECT COUNT(*) FROM " + table;
    CHECK(copy.execAndGet(count).getInt64() == whole.execAndGet(count).getInt64());
  }
}

TEST_CASE("an extract of a range in which nothing was recorded is refused") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 3});
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    must(writer->write(simulation.next()));
  }
  const Status refused = extract({fixture.path(), fixture.folder() + "/none.db"}, {1000, 2000});
  REQUIRE(!refused.ok());
  REQUIRE(refused.error().kind == ErrorKind::not_found);
  REQUIRE(!fs::exists(fixture.folder() + "/none.db"));
  REQUIRE(!fs::exists(fixture.folder() + "/none.db.partial"));
}

}  // namespace
}  // namespace memoir::test
