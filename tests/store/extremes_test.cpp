// Extremes of scans between two ticks: rows, intervals, rollups and marks agree about them.

#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

constexpr Range kWhenever{0, 4'000'000'000'000};

struct SeriesKey {
  SubjectKind kind;
  std::int64_t subject_id;
  Metric metric;
  auto operator<=>(const SeriesKey&) const = default;
};
using Bounds = std::map<SeriesKey, std::pair<std::int64_t, std::int64_t>>;

// The minimum and maximum of every subject in a range, from one tier.
Bounds bounds_of(Reader& reader, Tier tier, Range range) {
  Bounds bounds;
  const auto add = [&](SubjectKind kind, std::vector<Metric> metrics) {
    must(reader.history({tier, kind, {}, range, std::move(metrics)}, [&](const SubjectInterval& of) {
      if (!of.interval.min) return;
      const auto [found, fresh] =
          bounds.try_emplace({kind, of.subject_id, of.metric}, *of.interval.min, *of.interval.max);
      if (fresh) return;
      found->second = {std::min(found->second.first, *of.interval.min),
                       std::max(found->second.second, *of.interval.max)};
    }));
  };
  add(SubjectKind::machine, {Metric::used, metric_of(MachineField::mem_available)});
  add(SubjectKind::category, {Metric::rss});
  add(SubjectKind::process, {Metric::rss, Metric::anon});
  return bounds;
}

class RandomScans {
 public:
  // Returns extremes that sometimes exceed the values of both ticks.
  Extremes beyond(std::int64_t kib, const Moment& tick) {
    Extremes extremes;
    const auto seen = [&](std::int64_t value) {
      return SeenSize{std::max<std::int64_t>(value, 0), tick.wall_ms - number(1, 9'999)};
    };
    if (number(0, 9) == 0) extremes.lowest = seen(kib - number(1'000, 100'000));
    if (number(0, 9) == 0) extremes.highest = seen(kib + number(1'000, 100'000));
    return extremes;
  }

 private:
  std::int64_t number(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine_);
  }
  std::mt19937 engine_{7};
};

void scan(Tick& tick, const Tick& before, RandomScans& scans) {
  const MachineMemory& machine = before.machine.memory;
  tick.extremes.available = scans.beyond(machine.or_zero(MachineField::mem_available), tick.begin);
  tick.extremes.used = scans.beyond(machine.or_zero(MachineField::mem_total) / 2, tick.begin);
  for (const CategorySample& of : before.categories) {
    Extremes rss = scans.beyond(of.rss_kib, tick.begin);
    rss.lowest.reset();
    if (rss.any()) tick.extremes.categories.push_back({of.category, rss});
  }
  for (const ProcessSample& of : before.processes) {
    const std::int64_t kib = of.memory.or_zero(ProcessField::vm_rss);
    const ProcessExtremes extremes{of.key, scans.beyond(kib, tick.begin), scans.beyond(kib, tick.begin), {}};
    if (extremes.rss.any() || extremes.anon.any()) tick.extremes.processes.push_back(extremes);
  }
}

// One process with constant memory, recorded up to `tick`.
struct StillProcess {
  StillProcess() {
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    tick = simulation.next();
    key = tick.processes.front().key;
    kib = tick.processes.front().memory.or_zero(ProcessField::rss);
    must(writer->write(tick));
  }

  // Adds extremes of its RSS to the tick.
  void see(const Extremes& rss) { tick.extremes.processes = {{key, rss, {}, {}}}; }

  const StoreFixture fixture = {};
  Simulation simulation{{.processes = 1, .changing = 0, .births = 0}};
  const std::unique_ptr<Writer> writer = fixture.writer();
  Tick tick = {};
  ProcessKey key = {};
  std::int64_t kib = 0;
};

}  // namespace

TEST_CASE("extremes: rollups and pending rows have the minimum and maximum of ticks and scans") {
  const StoreFixture fixture;
  const bool rolled = GENERATE(false, true);
  CAPTURE(rolled);
  // Processes that run too briefly have no rollups of their own.
  Simulation simulation({.processes = 12, .changing = 0.2, .births = rolled ? 0 : 0.1});
  RandomScans scans;
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  Tick before = simulation.next();
  must(writer->write(before));
  for (int i = 0; i < 2'000; ++i) {
    Tick tick = simulation.next();
    scan(tick, before, scans);
    must(writer->write(tick));
    before = std::move(tick);
  }
  while (rolled && must(writer->maintain()).more) {
  }
  const auto reader = fixture.reader();
  const Bounds raw = bounds_of(*reader, Tier::raw, kWhenever);
  Bounds five_minutes = bounds_of(*reader, Tier::five_minutes, kWhenever);
  REQUIRE(five_minutes.size() > 12);
  for (const auto& [key, bounds] : five_minutes) {
    INFO(static_cast<int>(key.kind) << ' ' << key.subject_id << ' ' << to_string(key.metric));
    CHECK(raw.at(key).first == bounds.first);
    CHECK(raw.at(key).second == bounds.second);
  }
}

TEST_CASE("extremes: one between the last tick of an hour and the next hour is in the rollup of that hour") {
  constexpr std::int64_t hour_ms = 3'600'000;
  constexpr std::int64_t five_minutes_ms = 300'000;
  StillProcess still;
  std::vector<std::int64_t> hours;
  for (int i = 0; i < 2'000; ++i) {
    const std::int64_t before_ms = still.tick.begin.wall_ms;
    still.tick = still.simulation.next();
    const std::int64_t hour = still.tick.begin.wall_ms / hour_ms * hour_ms;
    if (before_ms < hour - 1) {
      still.see({{}, SeenSize{still.kib + 70'000, before_ms + 1}});
      hours.push_back(hour);
    }
    must(still.writer->write(still.tick));
  }
  while (must(still.writer->maintain()).more) {
  }
  REQUIRE(hours.size() > 2);
  const auto reader = still.fixture.reader();
  const auto highest = [&](std::int64_t from_ms) {
    const Range bucket{from_ms, from_ms + five_minutes_ms - 1};
    return bounds_of(*reader, Tier::five_minutes, bucket).at({SubjectKind::process, 1, Metric::rss}).second;
  };
  for (const std::int64_t hour : hours) {
    CHECK(highest(hour - five_minutes_ms) == still.kib + 70'000);
    CHECK(highest(hour) == still.kib);
  }
}

TEST_CASE("extremes: intervals have them with their times, and their mean is that of the ticks") {
  StillProcess still;
  const std::int64_t kib = still.kib;
  const auto see = [&still](std::int64_t low_kib, std::int64_t high_kib) {
    still.tick = still.simulation.next();
    const std::int64_t at_ms = still.tick.begin.wall_ms;
    still.see({SeenSize{low_kib, at_ms - 6'000}, SeenSize{high_kib, at_ms - 3'000}});
    must(still.writer->write(still.tick));
    return at_ms;
  };
  const std::int64_t first_ms = see(kib - 3, kib + 70'000);
  see(kib - 2, kib + 60'000);
  const auto reader = still.fixture.reader();
  std::vector<Interval> intervals;
  const HistoryQuery question{Tier::raw, SubjectKind::process, {}, kWhenever, {Metric::rss}};
  must(reader->history(question, [&](const SubjectInterval& of) { intervals.push_back(of.interval); }));
  // The interval up to the tick is split at the times of extremes.
  REQUIRE(intervals.size() == 4);
  CHECK(intervals[0] == constant(intervals[0].from_ms, first_ms - 6'000, kib, 1.0));
  const Interval& held = intervals[1];
  CHECK(held.from_ms == first_ms - 6'000);
  CHECK(held.until_ms == first_ms);
  CHECK(held.max == kib + 70'000);
  CHECK(held.max_at_ms == first_ms - 3'000);
  CHECK(held.min == kib - 3);
  CHECK(held.min_at_ms == first_ms - 6'000);
  CHECK(held.mean == kib);
  CHECK(held.last == kib);
  CHECK(intervals[2] == constant(first_ms, first_ms + 4'000, kib, 1.0));
  CHECK(intervals[3].max == kib + 60'000);
}

TEST_CASE("extremes: marks include scans on the day of the scan, stored or not") {
  const StoreFixture fixture;
  constexpr std::int64_t midnight_ms = 1'790'035'200'000;
  static_assert(midnight_ms % 86'400'000 == 0);
  Simulation simulation({.processes = 2, .changing = 0, .births = 0, .start = {midnight_ms - 25'000, 86'400'000}});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  Tick tick = simulation.next();
  must(writer->write(tick));
  const std::string category = tick.categories.front().category;
  const auto see = [&](std::int64_t at_ms, std::int64_t kib) {
    tick = simulation.next();
    tick.extremes.available.lowest = SeenSize{kib / 1000, at_ms};
    tick.extremes.categories = {{category, {{}, SeenSize{kib, at_ms}}}};
    must(writer->write(tick));
  };
  simulation.next();
  see(midnight_ms - 1'000, 1LL << 40);  // the tick that reports it is of the next day
  see(midnight_ms + 9'000, 1LL << 30);
  if (GENERATE(false, true)) must(writer->end_run(simulation.now(), "stopped"));
  const auto reader = fixture.reader();
  const auto of_day = [&](std::int64_t day_ms, SubjectKind kind, Metric metric) {
    for (const HighWater& mark : must(reader->high_water(Range{day_ms, day_ms + 86'399'999}, {kind}))) {
      if (mark.metric == metric && (kind == SubjectKind::machine || mark.name == category)) return mark;
    }
    return HighWater{};
  };
  const HighWater before = of_day(midnight_ms - 86'400'000, SubjectKind::category, Metric::rss);
  CHECK(before.value_kib == 1LL << 40);
  CHECK(before.at_ms == midnight_ms - 1'000);
  const HighWater after = of_day(midnight_ms, SubjectKind::category, Metric::rss);
  CHECK(after.value_kib == 1LL << 30);
  CHECK(after.at_ms == midnight_ms + 9'000);
  CHECK(after.before_ms < after.at_ms);
  CHECK(of_day(midnight_ms, SubjectKind::machine, metric_of(MachineField::mem_available)).value_kib ==
        (1LL << 30) / 1000);
}

TEST_CASE("extremes: marks have their source, stored or not, and in an extract") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 2, .changing = 0, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  CgroupSample cgroup;
  cgroup.path = "/a";
  cgroup.current_kib = 1000;
  Tick tick = simulation.next();
  tick.cgroups = {cgroup};
  must(writer->write(tick));
  const std::int64_t first_ms = tick.begin.wall_ms;
  const ProcessKey key = tick.processes.front().key;
  tick = simulation.next();
  tick.cgroups = {cgroup};
  const std::int64_t at_ms = tick.begin.wall_ms - 3'000;
  tick.extremes.used.highest = SeenSize{1LL << 40, at_ms};
  tick.extremes.processes = {{key, {}, {}, {{}, SeenSize{1LL << 41, at_ms, at_ms - 50, Origin::exit}}}};
  tick.extremes.cgroups = {{"/a", {{}, SeenSize{9000, tick.begin.wall_ms, first_ms, Origin::memory_peak}}, {}},
                           {"/empty", {{}, SeenSize{9000, tick.begin.wall_ms, first_ms, Origin::memory_peak}}, {}}};
  must(writer->write(tick));
  if (GENERATE(false, true)) must(writer->end_run(simulation.now(), "stopped"));
  const auto reader = fixture.reader();
  std::map<std::pair<SubjectKind, Metric>, HighWater> marks;
  for (const HighWater& mark : must(reader->high_water(std::nullopt, kAllKinds))) {
    HighWater& known = marks[{mark.subject, mark.metric}];
    if (mark.value_kib > known.value_kib) known = mark;
  }
  CHECK(marks[{SubjectKind::machine, Metric::used}].seen_by == Origin::scan);
  CHECK(marks[{SubjectKind::machine, Metric::swap_used}].seen_by.value_or(Origin::sample) == Origin::sample);
  CHECK(marks[{SubjectKind::process, Metric::hwm}].seen_by == Origin::exit);
  CHECK(marks[{SubjectKind::identity, Metric::hwm}].seen_by == Origin::exit);
  CHECK(marks[{SubjectKind::category, Metric::pss}].seen_by == Origin::sample);
  const HighWater& peak = marks[{SubjectKind::cgroup, Metric::usage}];
  CHECK(peak.value_kib == 9000);
  CHECK(peak.seen_by == Origin::memory_peak);
  CHECK(peak.at_ms == tick.begin.wall_ms);
  CHECK(peak.before_ms == first_ms);
}

TEST_CASE("extremes: an unknown process's extremes are omitted") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 1, .changing = 0, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  Tick tick = simulation.next();
  tick.extremes.processes = {{{4711, 1, 0}, {{}, SeenSize{1, 2}}, {}, {}}};
  tick.extremes.categories = {{"no such", {{}, SeenSize{1, 2}}}};
  must(writer->write(tick));
  CHECK(must(fixture.reader()->ticks(kWhenever)).size() == 1);
}

}  // namespace memoir::test
