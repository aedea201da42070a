#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <map>
#include <tuple>

#include "random_history.h"
#include "store/names.h"
#include "store/samples.h"
#include "store_fixture.h"
#include "support/simulation.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

// The values of each subject at a time, from the steps that are valid then.
struct Held {
  std::map<std::int64_t, std::vector<std::pair<Range, ProcessSample>>> processes;
  std::vector<std::pair<Range, MachineMemory>> machine;
  std::map<std::string, std::vector<std::pair<Range, CategorySample>>> categories;
};

Held held_samples(Reader& reader, Range range) {
  Held all;
  must(visit_samples(reader, range, [&](const SampleSpan<ProcessSample>& held) {
    REQUIRE(held.from_ms >= range.from_ms);
    REQUIRE(held.until_ms <= range.to_ms);
    REQUIRE(held.until_ms >= held.from_ms);
    all.processes[held.subject_id].push_back({{held.from_ms, held.until_ms}, *held.sample});
  }));
  must(visit_samples(reader, range, [&](const SampleSpan<MachineMemory>& held) {
    all.machine.push_back({{held.from_ms, held.until_ms}, *held.sample});
  }));
  must(visit_samples(reader, range, [&](const SampleSpan<CategorySample>& held) {
    all.categories[held.sample->category].push_back({{held.from_ms, held.until_ms}, *held.sample});
  }));
  return all;
}

template <typename T>
std::optional<T> at(const std::vector<std::pair<Range, T>>& steps, std::int64_t ms) {
  std::optional<T> found;
  for (const auto& [span, value] : steps) {
    if (span.from_ms > ms) break;
    found = span.to_ms > ms || span.from_ms == ms ? std::optional(value) : std::nullopt;
  }
  return found;
}

TEST_CASE("the steps valid at a tick are its snapshot") {
  const StoreFixture fixture;
  RandomHistory chance(3);
  Simulation simulation({.processes = 15, .changing = 0.3, .births = 0.4});
  for (int run = 0; run < 3; ++run) {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    for (int i = 0; i < 60; ++i) {
      must(writer->write(simulation.next(chance.chance(0.05))));
      if (chance.chance(0.05)) simulation.pause(60'000);
    }
    if (run != 1) must(writer->end_run(simulation.now(), "stopped"));
    simulation.pause(100'000);
  }
  const auto reader = fixture.reader();
  const auto ticks = must(reader->ticks({0, 4'000'000'000'000}));
  for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{0, ticks.size() - 1}, {37, 131}}) {
    const Range range{ticks[first].begin.wall_ms, ticks[last].begin.wall_ms};
    const Held held = held_samples(*reader, range);
    for (std::size_t i = first; i < last; ++i) {
      // Before a gap, steps end at the tick itself.
      if (ticks[i + 1].begin.boot_ms - ticks[i].begin.boot_ms > 16'000) continue;
      const Snapshot snapshot = must(reader->snapshot(ticks[i].id));
      const std::int64_t ms = ticks[i].begin.wall_ms;
      INFO("tick " << ticks[i].id);
      const auto machine = at(held.machine, ms);
      REQUIRE(machine.has_value());
      REQUIRE(*machine == snapshot.machine.memory);
      std::size_t alive = 0;
      for (const auto& [id, steps] : held.processes) alive += at(steps, ms) ? 1U : 0U;
      REQUIRE(alive == snapshot.processes.size());
      for (const ProcessState& state : snapshot.processes) {
        auto sample = at(held.processes.at(state.process.id), ms);
        REQUIRE(sample.has_value());
        sample->source = source_at(*sample, ticks[i].begin.boot_ms);
        REQUIRE(*sample == state.sample);
      }
      for (const CategorySample& category : snapshot.categories)
        REQUIRE(at(held.categories.at(category.category), ms) == std::optional(category));
    }
  }
}

TEST_CASE("steps cover exactly the recorded time") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 2, .changing = 0.5, .births = 0});
  const Moment start = simulation.now();
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), start)));
  for (int i = 0; i < 10; ++i) must(writer->write(simulation.next()));
  simulation.pause(500'000);
  for (int i = 0; i < 10; ++i) must(writer->write(simulation.next()));
  const Range range{start.wall_ms - 50'000, simulation.now().wall_ms + 900'000};
  const auto reader = fixture.reader();
  std::int64_t covered = 0;
  must(visit_samples(*reader, range,
                     [&](const SampleSpan<MachineMemory>& held) { covered += held.until_ms - held.from_ms; }));
  REQUIRE(covered == must(reader->coverage(range)).recorded_ms);
  REQUIRE(covered == 180'000);
}

// Sum of KiB × ms (which may overflow) and time, by subject and metric.
using HeldByEach = std::map<std::pair<std::int64_t, Metric>, std::pair<std::uint64_t, std::int64_t>>;

HeldByEach held_by_each(const std::vector<SubjectInterval>& intervals) {
  HeldByEach held;
  for (const SubjectInterval& of : intervals) {
    auto& [kib_ms, covered_ms] = held[{of.subject_id, of.metric}];
    kib_ms +=
        static_cast<std::uint64_t>(of.interval.mean.value_or(0)) * static_cast<std::uint64_t>(of.interval.covered_ms);
    covered_ms += of.interval.covered_ms;
  }
  return held;
}

HeldByEach held_by_each(Reader& reader, const HistoryQuery& question) {
  std::vector<SubjectInterval> intervals;
  must(reader.history(question, [&intervals](const SubjectInterval& of) { intervals.push_back(of); }));
  return held_by_each(intervals);
}

// Joins intervals of the same value, in order of subject and metric. A reading without a change starts a new sample,
// but no new interval.
std::vector<SubjectInterval> joined(std::vector<SubjectInterval> intervals) {
  std::ranges::stable_sort(intervals, {}, [](const auto& of) { return std::pair(of.subject_id, of.metric); });
  std::vector<SubjectInterval> all;
  for (const SubjectInterval& of : intervals) {
    SubjectInterval longer = of;
    if (!all.empty()) {
      Interval& values = longer.interval;
      values.from_ms = all.back().interval.from_ms;
      values.covered_ms = values.until_ms - values.from_ms;
      SubjectInterval before = all.back();
      before.interval.until_ms = values.until_ms;
      before.interval.covered_ms = values.covered_ms;
      if (all.back().interval.until_ms == of.interval.from_ms && before.interval == longer.interval &&
          std::tuple(before.subject_id, before.metric, before.processes) ==
              std::tuple(of.subject_id, of.metric, of.processes)) {
        all.back() = longer;
        continue;
      }
    }
    all.push_back(of);
  }
  return all;
}

// Checks that intervals and samples have the same values.
void check_values(Reader& reader, Range range, const std::vector<Metric>& metrics,
                  std::optional<std::int64_t> process_id) {
  std::vector<SubjectInterval> expected;
  must(visit_samples(reader, range, [&](const SampleSpan<ProcessSample>& held) {
    if (process_id && held.subject_id != *process_id) return;
    const ProcessSample& sample = *held.sample;
    const bool zombie = sample.state == 'Z' || sample.state == 'X';
    for (const Metric metric : metrics)
      expected.push_back({held.subject_id, metric, zombie ? 0 : 1,
                          constant(held.from_ms, held.until_ms, metric_kib(sample.memory, metric),
                                   is_exact(metric, sample.source) ? 1 : 0)});
  }));
  HistoryQuery question{Tier::raw, SubjectKind::process, process_id, range, metrics};
  question.zombies = true;
  std::vector<SubjectInterval> found;
  must(reader.history(question, [&](const SubjectInterval& of) { found.push_back(of); }));
  for (std::vector<SubjectInterval>* all : {&found, &expected}) *all = joined(*all);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE_OF_MANY(found[i].subject_id == expected[i].subject_id);
    REQUIRE_OF_MANY(found[i].metric == expected[i].metric);
    REQUIRE_OF_MANY(found[i].processes == expected[i].processes);
    REQUIRE_OF_MANY(found[i].interval == expected[i].interval);
  }
  // A query without zombies has the same values in fewer intervals.
  question.zombies = false;
  REQUIRE(held_by_each(reader, question) == held_by_each(expected));
}

TEST_CASE("the history of a metric equals the samples") {
  for (std::uint32_t seed = 1; seed <= trials(12U); ++seed) {
    INFO("seed " << seed);
    const StoreFixture fixture;
    RandomHistory history(seed);
    const std::int64_t start_ms = history.now().wall_ms;
    for (int run = 0; run < 3; ++run) {
      if (run > 0) history.restart(run == 2);
      const auto writer = fixture.writer();
      must(writer->begin_run(run_info(history.boot(), history.now())));
      for (int i = 0; i < 40; ++i) {
        if (history.chance(0.1)) history.lose_tick();
        must(writer->write(history.next()));
      }
    }
    // Deletes the values that no sample has.
    SQLite::Database(fixture.path(), SQLite::OPEN_READWRITE).exec("DELETE FROM extreme");
    const auto reader = fixture.reader();
    const Range all{start_ms, history.now().wall_ms};
    const Range middle{all.from_ms + (all.to_ms - all.from_ms) / 3, all.to_ms - (all.to_ms - all.from_ms) / 3};
    std::vector<std::vector<Metric>> asked{{Metric::anon, Metric::swap}, {Metric::rss, Metric::hwm}};
    for (const Metric metric : kMetrics) asked.push_back({metric});
    for (const std::vector<Metric>& metrics : asked) {
      check_values(*reader, all, metrics, std::nullopt);
      check_values(*reader, middle, metrics, std::nullopt);
      check_values(*reader, all, metrics, history.number(1, 5));
    }
  }
}

}  // namespace
TEST_CASE("an identity with a running process counts as current, even without a rollup since its first sample") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 3, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  const std::int64_t first_ms = simulation.now().wall_ms;
  for (int i = 0; i < 20; ++i) must(writer->write(simulation.next()));
  const std::int64_t last_ms = must(fixture.reader()->info()).last_tick_ms;
  const auto reader = fixture.reader();
  const std::size_t all = must(load_identities(*reader, std::nullopt)).size();
  CHECK(all > 0);
  CHECK(must(load_identities(*reader, Range{last_ms, last_ms})).size() == all);
  CHECK(must(load_identities(*reader, Range{0, first_ms - 1'000})).empty());
}

}  // namespace memoir::test
