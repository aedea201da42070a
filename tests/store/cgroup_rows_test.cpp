// Rows of cgroups besides their samples: slow-changing counters, high-water marks and containers.

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "store/events.h"
#include "store/marks/mark.h"
#include "store/names.h"
#include "store/states.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

using MarkKey = std::tuple<std::string, Metric, std::optional<std::int64_t>>;  // path, metric and day
using MarkValue = std::tuple<std::int64_t, std::int64_t, std::int64_t>;        // KiB, time, and time before

using Usage = std::map<std::pair<std::string, Metric>, std::map<std::int64_t, std::int64_t>>;  // KiB by tick

// Simulated short-lived cgroups. Some ticks read their slow-changing counters and all their marks.
class Cgroups {
 public:
  explicit Cgroups(unsigned seed) : engine_(seed) {}

  void add_to(Tick& tick) {
    bool is_new = false;
    for (const char* path : {"/", "/a", "/a/b", "/c", "/d"}) {
      if (chance(10)) samples_.erase(path);
      if (!chance(30)) continue;
      is_new = is_new || !samples_.contains(path);
      samples_[path] = {path, number(), {}, {}, {}, {}, {}, some(), some(), some()};
    }
    for (const auto& [path, sample] : samples_) {
      tick.cgroups.push_back(sample);
      usage_[{path, Metric::usage}][tick.begin.wall_ms] = sample.current_kib;
      if (sample.anon_kib) usage_[{path, Metric::usage_anon}][tick.begin.wall_ms] = *sample.anon_kib;
    }
    // The collector reads a new cgroup completely.
    if (is_new || chance(25)) read_details(tick);
    see_marks(tick);
    before_ms_ = tick.begin.wall_ms;
  }
  // At the first tick of a run the collector reads all cgroups.
  void begin_run() {
    before_ms_.reset();
    samples_.clear();
    details_.clear();
  }

  // Details of the existing cgroups, by path.
  const std::map<std::string, CgroupDetail>& details() const { return details_; }
  bool has(const std::string& path) const { return samples_.contains(path); }
  const Usage& usage() const { return usage_; }
  std::map<MarkKey, MarkValue> marks(bool days) const {
    std::map<MarkKey, MarkValue> some;
    for (const auto& [key, mark] : marks_) {
      if (std::get<2>(key).has_value() == days) some[key] = mark;
    }
    return some;
  }

 private:
  bool chance(int percent) { return std::uniform_int_distribution(1, 100)(engine_) <= percent; }
  std::int64_t number() { return std::uniform_int_distribution<std::int64_t>(0, 1'000'000)(engine_); }
  std::optional<std::int64_t> some() { return chance(70) ? std::optional(number()) : std::nullopt; }

  void read_details(Tick& tick) {
    details_.clear();
    tick.cgroup_details.emplace();
    for (const CgroupSample& sample : tick.cgroups) {
      CgroupDetail& detail = details_[sample.path];
      detail = {sample.path, some(), some(), some(), some(), some(), some(), some(), some(), some(), some(), {}, {}};
      tick.cgroup_details->push_back(detail);
    }
  }

  void see_marks(const Tick& tick) {
    const std::int64_t at = tick.begin.wall_ms;
    for (const CgroupSample& sample : tick.cgroups) {
      for (const auto& [metric, value] : {std::pair(Metric::usage, std::optional(sample.current_kib)),
                                          std::pair(Metric::usage_anon, sample.anon_kib)}) {
        if (!value || *value == 0) continue;
        for (const auto& day : {std::optional<std::int64_t>(), std::optional(day_of(at))}) {
          MarkValue& mark = marks_[{sample.path, metric, day}];
          if (*value > std::get<0>(mark)) mark = {*value, at, before_ms_.value_or(at)};
        }
      }
    }
  }

  std::mt19937 engine_;
  std::map<std::string, CgroupSample> samples_;
  std::map<std::string, CgroupDetail> details_;
  std::map<MarkKey, MarkValue> marks_;
  Usage usage_;
  std::optional<std::int64_t> before_ms_;
};

std::map<MarkKey, MarkValue> read_marks(const std::vector<HighWater>& marks,
                                        const std::map<std::int64_t, std::string>& names) {
  std::map<MarkKey, MarkValue> found;
  for (const HighWater& mark : marks) {
    if (mark.metric != Metric::usage && mark.metric != Metric::usage_anon) continue;
    found[{names.at(mark.subject_id), mark.metric, mark.day_ms}] = {mark.value_kib, mark.at_ms, mark.before_ms};
  }
  return found;
}

void check_details(Reader& reader, std::int64_t tick_id, const Cgroups& cgroups) {
  std::map<std::string, CgroupDetail> read;
  for (const CgroupDetail& detail : must(load_cgroup_details(reader, tick_id))) read[detail.path] = detail;
  for (const auto& [path, detail] : cgroups.details()) {
    if (cgroups.has(path)) REQUIRE(read.at(path) == detail);
  }
}

void check_marks(Reader& reader, const Cgroups& cgroups) {
  const auto names = must(load_group_names(reader, SubjectKind::cgroup));
  const Range all{0, 4'000'000'000'000};
  CHECK(read_marks(must(reader.high_water(std::nullopt, {SubjectKind::cgroup})), names) == cgroups.marks(false));
  CHECK(read_marks(must(reader.high_water(all, {SubjectKind::cgroup})), names) == cgroups.marks(true));
}

// Compares the usage of each cgroup at each tick except the last, which has no known duration.
void check_usage(Reader& reader, const Cgroups& cgroups) {
  const auto names = must(load_group_names(reader, SubjectKind::cgroup));
  std::vector<std::int64_t> ticks;
  for (const StoredTick& tick : must(reader.ticks({0, 4'000'000'000'000}))) ticks.push_back(tick.begin.wall_ms);
  Usage found;
  const HistoryQuery question{
      Tier::raw, SubjectKind::cgroup, {}, {0, ticks.back()}, {Metric::usage, Metric::usage_anon}};
  must(reader.history(question, [&](const SubjectInterval& of) {
    const Interval& held = of.interval;
    auto tick = std::ranges::lower_bound(ticks, held.from_ms);
    for (; held.mean && tick != ticks.end() && *tick < held.until_ms; ++tick)
      REQUIRE(found[{names.at(of.subject_id), of.metric}].emplace(*tick, *held.mean).second);
  }));
  Usage known = cgroups.usage();
  for (auto& [of, usage] : known) usage.erase(ticks.back());
  CHECK(found == known);
}

}  // namespace

TEST_CASE("a changed cgroup limit is an event, up to a maximum in five minutes") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 1});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  const auto tick = [&](std::optional<std::int64_t> max_kib, std::optional<std::int64_t> high_kib) {
    Tick next = simulation.next();
    CgroupSample sample;
    sample.path = "/app.service";
    sample.max_kib = max_kib;
    sample.high_kib = high_kib;
    next.cgroups = {sample};
    must(writer->write(next));
  };
  const auto limit_events = [&] {
    std::vector<std::string> texts;
    for (const Event& event : must(load_events(*fixture.reader(), {0, 4'000'000'000'000}))) {
      if (event.kind == "limit-change") texts.push_back(event.text);
    }
    return texts;
  };
  tick(1024, {});
  tick(1024, {});
  CHECK(limit_events().empty());
  tick(2048, 1536);
  tick({}, 1536);
  CHECK(limit_events() == std::vector<std::string>{
                              "The limit (memory.max) of the cgroup /app.service was changed from 1.0 MiB to 2.0 MiB",
                              "memory.high of the cgroup /app.service was changed from none to 1.5 MiB",
                              "The limit (memory.max) of the cgroup /app.service was changed from 2.0 MiB to none",
                          });
  for (std::int64_t i = 0; i < 200; ++i) tick(i, i);
  const std::size_t blocks = 200 * 10'000 / 300'000 + 2;
  CHECK(limit_events().size() <= blocks * 31);
  const std::vector<std::string> texts = limit_events();
  const auto cut =
      std::ranges::count_if(texts, [](const std::string& text) { return text.starts_with("More cgroup limits"); });
  CHECK(cut >= 5);
  CHECK(cut <= std::ssize(texts) / 30 + 1);
}

TEST_CASE("slow-changing counters and marks of cgroups are read back unchanged") {
  const unsigned seed = GENERATE(1U, 2U, 3U);
  CAPTURE(seed);
  const StoreFixture fixture;
  Simulation simulation({.processes = 3, .interval_ms = 600'000});
  Cgroups cgroups(seed);
  std::int64_t id = 0;
  for (int run = 0; run < 2; ++run) {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 600'000)));
    cgroups.begin_run();
    for (int i = 0; i < 200; ++i) {
      Tick tick = simulation.next();
      tick.keyframe = i % 30 == 0;
      cgroups.add_to(tick);
      must(writer->write(tick));
      ++id;
      if (i % 7 == 0) check_details(*fixture.reader(), id, cgroups);
      if (i % 50 == 49) check_marks(*fixture.reader(), cgroups);
    }
    must(writer->end_run(simulation.now(), "stopped"));
  }
  check_marks(*fixture.reader(), cgroups);
  check_usage(*fixture.reader(), cgroups);
}

TEST_CASE("a cgroup has its container from the tick that reports it, and another one from the next report") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 1});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  const CgroupContainer web{"/docker/12", {"docker", "12", "web", "nginx:1", {}, {}}};
  const CgroupContainer again{"/docker/12", {"docker", "12", "web-1", "nginx:1", {}, {}}};
  const CgroupContainer pod{"/kubepods/pod7/34", {"kubernetes", "34", "app", "app:7", "7", "prod/app-1"}};
  for (const std::vector<CgroupContainer>& reported : {std::vector{web, pod}, {web}, {again}}) {
    Tick tick = simulation.next();
    tick.containers = reported;
    must(writer->write(tick));
  }
  CHECK(must(load_containers(*fixture.reader())) == std::vector{again, pod});
}

}  // namespace memoir::test
