// Daily cost of mapping summaries. The real collector and the real writer run over many real processes, of which some
// change at each tick, on a clock that advances 10 s per tick. The same ticks are stored with and without the
// summaries. All times are CPU time; the mapping reader measures its own.
//
// mappings_bench [PROCESSES [HOURS [LABELS]]]: by default 300 processes, 3 hours, and the configured number of labels.

#include <cstdlib>
#include <fmt/format.h>
#include <string>

#include "base/cached_file.h"
#include "base/clock.h"
#include "collect/collector.h"
#include "cost.h"
#include "population.h"
#include "store.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr double kTicksADay = 86'400'000.0 / kTickMs;

struct Sums {
  double readings = 0;
  double read_us = 0;
  double slowest_us = 0;
  double rows = 0;
  double with_us = 0;  // CPU time of the writer
  double without_us = 0;
};

std::size_t argument(int argc, char** argv, int index, std::size_t otherwise) {
  return index < argc ? std::strtoul(argv[index], nullptr, 10) : otherwise;
}

void add(const Tick& tick, Sums& sums) {
  for (const ProcessMappings& summary : tick.summaries) {
    if (summary.state != MappingState::exact) continue;
    ++sums.readings;
    sums.read_us += static_cast<double>(summary.cpu_us);
    sums.slowest_us = std::max(sums.slowest_us, static_cast<double>(summary.cpu_us));
    sums.rows += static_cast<double>(summary.summary.rows.size());
  }
}

// Measures the planning of reads for this many processes, without any read.
double plan_us(std::size_t processes) {
  MappingPlan plan{MappingLimits{}};
  std::vector<MappingCandidate> candidates;
  for (std::size_t i = 0; i < processes; ++i)
    candidates.push_back({{static_cast<std::int32_t>(i + 1), 1, 0}, static_cast<std::int64_t>(i * 37 % 1000), i});
  constexpr int rounds = 2'000;
  std::int64_t now_ms = 1;
  return cost_us([&] {
           for (int i = 0; i < rounds; ++i) {
             for (const ProcessKey& key : plan.next(candidates, now_ms += kTickMs, MappingRequest::due).read)
               plan.read(key, 1'000);
           }
         }) /
         rounds;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::size_t processes = argument(argc, argv, 1, 300);
  const std::size_t hours = argument(argc, argv, 2, 3);
  CollectorOptions options;
  options.max_descriptors = raise_descriptor_limit();
  options.summaries.labels = argument(argc, argv, 3, options.summaries.labels);
  Population population(processes, 2048);
  const ProcFs proc;
  test::ManualClock clock(SystemClock().now());
  const BootInfo boot = need(proc.boot(clock.now()));
  const auto collector = make_proc_source(proc, clock, need(Categoriser::make(default_category_rules())),
                                          need(Redactor::make(RedactionOptions{})), options);
  const test::TemporaryDirectory folder;
  Store with(folder.path() + "/with.db", boot, clock.now(), kTickMs);
  Store without(folder.path() + "/without.db", boot, clock.now(), kTickMs);
  Sums sums;
  const std::size_t ticks = hours * 360;
  for (std::size_t i = 0; i < ticks; ++i) {
    population.stir(processes / 20);
    Tick tick = need(collector->collect(i % 360 == 0));
    add(tick, sums);
    sums.with_us += with.write(tick);
    tick.summaries.clear();
    sums.without_us += without.write(tick);
    clock.advance(kTickMs);
  }
  const double bytes = with.close(clock.now()) - without.close(clock.now());
  const double days = static_cast<double>(ticks) / kTicksADay;
  const double planned_us = plan_us(processes);
  const auto a_day = [&](double us) { return us / days / 1e6; };
  const double total = a_day(sums.read_us) + planned_us * kTicksADay / 1e6 + a_day(sums.with_us - sums.without_us);
  fmt::print("{} processes, {} hours, {} labels\n\n", processes, hours, options.summaries.labels);
  const auto line = [](const char* what, double value, const char* unit) {
    fmt::print("{:<36}{:>12.2f} {}\n", what, value, unit);
  };
  line("readings a day", sums.readings / days, "");
  line("rows of a reading", sums.rows / sums.readings, "");
  line("a reading, mean", sums.read_us / sums.readings / 1e3, "ms of CPU");
  line("a reading, slowest", sums.slowest_us / 1e3, "ms of CPU");
  line("readings", a_day(sums.read_us), "s of CPU a day");
  line("the plan, a tick", planned_us, "us of CPU");
  line("the plan", planned_us * kTicksADay / 1e6, "s of CPU a day");
  line("storing", a_day(sums.with_us - sums.without_us), "s of CPU a day");
  line("all", total, "s of CPU a day");
  line("the file", bytes / days / 1e6, "MB a day");
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "mappings_bench: {}\n", error.what());
  return 1;
}
