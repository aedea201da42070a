// Measures the cost of a tick beyond the floor. The real collector and the real writer run over many real processes,
// alternating with a bare loop that reads the same files (the floor). Prints medians of the CPU time of all threads.
//
// tick_bench [PROCESSES [KIB [ROUNDS]]]: by default 300 processes of 2 MiB private memory each, 40 rounds.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/cached_file.h"
#include "base/clock.h"
#include "collect/collector.h"
#include "cost.h"
#include "floor.h"
#include "population.h"
#include "store/writer.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

struct Plan {
  std::size_t processes = 300;
  std::size_t private_kib = 2048;
  std::size_t rounds = 40;
};

struct Round {
  double floor_us = 0;
  double collect_us = 0;
  double store_us = 0;
};

enum class Reads { all, by_need };

std::vector<Round> measure(const Plan& plan, Population& population, bool keep, Reads reads = Reads::all,
                           Result<std::unique_ptr<Census>> census = std::unique_ptr<Census>()) {
  const ProcFs proc;
  const SystemClock clock;
  const BootInfo boot = need(proc.boot(clock.now()));
  CollectorOptions options;
  options.max_descriptors = keep ? raise_descriptor_limit() : 0;
  if (reads == Reads::by_need) options.read_share_ppm = 5'000;
  const auto collector = make_proc_source(proc, clock, need(Categoriser::make(default_category_rules())),
                                          need(Redactor::make(RedactionOptions{})), options, std::move(census));
  const test::TemporaryDirectory folder;
  const auto writer = need(Writer::open(folder.path() + "/memoir.db", Durability::full));
  need(writer->begin_run({.boot = boot, .pid = 1, .version = "bench", .interval_ms = 10'000, .started = clock.now()}));
  Floor floor(keep);

  // The first pass opens files and finds the processes, and the first ticks are keyframes.
  floor.pass();
  for (int i = 0; i < 3; ++i) need(writer->write(need(collector->collect(i == 0))));

  std::vector<Round> rounds;
  for (std::size_t i = 0; i < plan.rounds; ++i) {
    population.stir(plan.processes / 20);
    Round round;
    Tick tick;
    const auto read_floor = [&] { round.floor_us = cost_us([&] { floor.pass(); }); };
    const auto take_tick = [&] {
      round.collect_us = cost_us([&] { tick = need(collector->collect(false)); });
      round.store_us = cost_us([&] { need(writer->write(tick)); });
    };
    // The second of the two finds warm caches, so the order alternates.
    if (i % 2 == 0) {
      read_floor();
      take_tick();
    } else {
      take_tick();
      read_floor();
    }
    rounds.push_back(round);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return rounds;
}

void print(std::string_view title, const std::vector<Round>& rounds) {
  std::vector<double> floors;
  std::vector<double> ticks;
  std::vector<double> stores;
  for (const Round& round : rounds) {
    floors.push_back(round.floor_us);
    ticks.push_back(round.collect_us + round.store_us);
    stores.push_back(round.store_us);
  }
  fmt::print("{:<28}{:>12.0f}{:>12.0f}{:>20.0f}{:>9.2f}\n", title, median(floors), median(ticks), median(stores),
             median(ticks) / median(floors));
}

std::size_t argument(int argc, char** argv, int index, std::size_t otherwise) {
  return index < argc ? std::strtoul(argv[index], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) try {
  Plan plan;
  plan.processes = argument(argc, argv, 1, plan.processes);
  plan.private_kib = argument(argc, argv, 2, plan.private_kib);
  plan.rounds = argument(argc, argv, 3, plan.rounds);
  raise_descriptor_limit();
  Population population(plan.processes, plan.private_kib);
  fmt::print(
      "{} processes of {} KiB private memory each besides the machine's own, 5 % of them changing per tick;\n"
      "CPU time, medians of {} rounds; durability full, the database in {}\n\n",
      plan.processes, plan.private_kib, plan.rounds, std::filesystem::temp_directory_path().string());
  fmt::print("{:<28}{:>12}{:>12}{:>20}{:>9}\n", "", "floor, µs", "tick, µs", "of which storing", "ratio");
  print("descriptors kept", measure(plan, population, true));
  print("files opened again", measure(plan, population, false));
  print("rollups by need", measure(plan, population, true, Reads::by_need));
  print("and a census by /proc",
        measure(plan, population, true, Reads::by_need, Error{ErrorKind::not_found, "by /proc"}));
  auto census = probe_bpf(ProcFs()).census;
  if (census) {
    print("and a census by BPF", measure(plan, population, true, Reads::by_need, std::move(census)));
  } else {
    fmt::print("without BPF: {}\n", census.error().message);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "tick_bench: {}\n", error.what());
  return 1;
}
