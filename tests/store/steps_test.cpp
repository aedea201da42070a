#include <algorithm>
#include <map>

#include "random_history.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

// What is known of each subject at a time, by the steps: those that hold then.
struct Held {
  std::map<std::int64_t, std::vector<std::pair<Range, ProcessSample>>> processes;
  std::vector<std::pair<Range, MachineMemory>> machine;
  std::map<std::string, std::vector<std::pair<Range, CategorySample>>> categories;
};

Held held_steps(Reader& reader, Range range) {
  Held held;
  must(reader.process_steps(range, [&](const ProcessStep& step) {
    REQUIRE(step.at_ms >= range.from_ms);
    REQUIRE(step.until_ms <= range.to_ms);
    REQUIRE(step.until_ms >= step.at_ms);
    held.processes[step.process_id].push_back({{step.at_ms, step.until_ms}, *step.sample});
  }));
  must(reader.machine_steps(range, [&](const MachineStep& step) {
    held.machine.push_back({{step.at_ms, step.until_ms}, *step.memory});
  }));
  must(reader.category_steps(range, [&](const CategoryStep& step) {
    held.categories[step.sample->category].push_back({{step.at_ms, step.until_ms}, *step.sample});
  }));
  return held;
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

TEST_CASE("the steps that hold at a tick are its snapshot") {
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
    const Held held = held_steps(*reader, range);
    for (std::size_t i = first; i < last; ++i) {
      // Before a gap, steps end with the tick itself.
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
        const auto sample = at(held.processes.at(state.process.id), ms);
        REQUIRE(sample.has_value());
        REQUIRE(*sample == state.sample);
      }
      for (const CategorySample& category : snapshot.categories)
        REQUIRE(at(held.categories.at(category.category), ms) == std::optional(category));
    }
  }
}

TEST_CASE("steps cover just what was recorded") {
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
  must(reader->machine_steps(range, [&](const MachineStep& step) { covered += step.until_ms - step.at_ms; }));
  REQUIRE(covered == must(reader->coverage(range)).recorded_ms);
  REQUIRE(covered == 180'000);
}

// What is asked for of a value, and what it is of.
struct Value {
  std::vector<ProcessField> fields;
  std::optional<std::int64_t> (*of)(const ProcessMemory&);
};

std::optional<std::int64_t> anon_and_swap(const ProcessMemory& memory) {
  const auto anon = anon_kib(memory);
  return anon ? std::optional(*anon + swap_kib(memory).value_or(0)) : std::nullopt;
}

const std::vector<Value>& values() {
  using F = ProcessField;
  static const std::vector<Value> all{
      {{F::pss}, [](const ProcessMemory& memory) { return memory.get(F::pss); }},
      {{F::rss, F::vm_rss}, rss_kib},
      {{F::private_clean, F::private_dirty}, uss_kib},
      {{F::swap, F::vm_swap}, swap_kib},
      {{F::vm_hwm, F::vm_rss, F::rss}, high_water_kib},
      {{F::anonymous, F::rss_anon, F::swap, F::vm_swap}, anon_and_swap},
      {{F::pss_dirty}, [](const ProcessMemory& memory) { return memory.get(F::pss_dirty); }},
      {{F::referenced}, [](const ProcessMemory& memory) { return memory.get(F::referenced); }},
  };
  return all;
}

// The steps of whole samples tell the same.
void check_values(Reader& reader, Range range, const Value& value, std::optional<std::int64_t> process_id) {
  std::vector<ValueStep> expected;
  must(reader.process_steps(range, [&](const ProcessStep& step) {
    if (process_id && step.process_id != *process_id) return;
    expected.push_back({step.process_id, step.at_ms, step.until_ms, value.of(step.sample->memory), step.sample->source,
                        step.sample->state == 'Z'});
  }));
  std::vector<ValueStep> found;
  must(reader.process_values({range, process_id, value.fields, value.of},
                             [&](const ValueStep& step) { found.push_back(step); }));
  // Within a tick they come in another order.
  for (std::vector<ValueStep>* steps : {&found, &expected})
    std::ranges::stable_sort(*steps, {}, &ValueStep::process_id);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE_OF_MANY(found[i].process_id == expected[i].process_id);
    REQUIRE_OF_MANY(found[i].at_ms == expected[i].at_ms);
    REQUIRE_OF_MANY(found[i].until_ms == expected[i].until_ms);
    REQUIRE_OF_MANY(found[i].value == expected[i].value);
    REQUIRE_OF_MANY(found[i].source == expected[i].source);
    REQUIRE_OF_MANY(found[i].zombie == expected[i].zombie);
  }
}

TEST_CASE("the steps of one value are those of the samples that it is made of") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
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
    const auto reader = fixture.reader();
    const Range all{start_ms, history.now().wall_ms};
    const Range middle{all.from_ms + (all.to_ms - all.from_ms) / 3, all.to_ms - (all.to_ms - all.from_ms) / 3};
    for (const Value& value : values()) {
      check_values(*reader, all, value, std::nullopt);
      check_values(*reader, middle, value, std::nullopt);
      check_values(*reader, all, value, history.number(1, 5));
    }
  }
}

}  // namespace
}  // namespace memoir::test
