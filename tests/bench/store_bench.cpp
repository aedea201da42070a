// One simulated day at 10 s through the real writer: cost of a tick in file size, writes and CPU time, and the latency
// of the query tool's calls on that file.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "store/reader.h"
#include "store/samples.h"
#include "store/writer.h"
#include "support/simulation.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kTicks = 8640;
constexpr std::size_t kProcesses = 300;

struct Figures {
  double bytes = 0;
  double written = 0;
  double cpu_us = 0;
  double upkeep_cpu_us = 0;  // CPU time of rollups and retention
  double longest_ms = 0;     // longest write transaction of rollups and retention
};

// A field of /proc/self/io. wchar counts the bytes passed to write calls, on any file system.
double io_field(const char* field) {
  std::ifstream io("/proc/self/io");
  std::string key;
  double value = 0;
  while (io >> key >> value) {
    if (key == field) return value;
  }
  return 0;
}

template <typename T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(result).value();
}

Figures record(const std::string& path, double changing, bool upkeep) {
  Simulation simulation({.processes = kProcesses, .changing = changing});
  Figures figures;
  const double before = io_field("wchar:");
  {
    const auto writer = must(Writer::open(path, Durability::full));
    must(writer->begin_run({simulation.boot(), 1, "bench", 10'000, simulation.now()}));
    for (std::int64_t i = 0; i < kTicks; ++i) {
      const Tick tick = simulation.next(i + 1 == kTicks);
      const std::int64_t start = thread_cpu_us();
      must(writer->write(tick));
      const std::int64_t written = thread_cpu_us();
      figures.cpu_us += static_cast<double>(written - start);
      for (bool more = upkeep; more;) {
        const Maintenance done = must(writer->maintain());
        more = done.more;
        figures.longest_ms = std::max(figures.longest_ms, static_cast<double>(done.write_us) / 1000);
      }
      figures.upkeep_cpu_us += static_cast<double>(thread_cpu_us() - written);
    }
    must(writer->end_run(simulation.now(), "stopped"));
  }
  figures.written = io_field("wchar:") - before;
  for (const char* suffix : {"", "-wal"})
    figures.bytes += static_cast<double>(std::filesystem::file_size(path + suffix));
  return figures;
}

template <typename Call>
double best_ms(Call&& call) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void measure(const char* name, const std::string& folder, double changing, bool upkeep) {
  const std::string path = folder + "/" + name + ".db";
  const Figures figures = record(path, changing, upkeep);
  const std::int64_t begin = SimulationOptions{}.start.wall_ms;
  const std::int64_t end = begin + kTicks * 10'000;
  const double top = best_ms([&] {
    const auto reader = must(Reader::open(path));
    // A tick just before a keyframe, where a query has to search the most rows.
    const auto tick = must(reader->tick_at(begin + 20 * 3'600'000 - 10'000));
    must(reader->snapshot(tick->id));
  });
  const double peaks = best_ms([&] {
    must(must(Reader::open(path))
             ->high_water(Range{begin, end}, {SubjectKind::machine, SubjectKind::category, SubjectKind::process}));
  });
  const double status = best_ms([&] {
    const auto reader = must(Reader::open(path));
    must(reader->info());
    must(reader->runs());
    must(reader->coverage({begin, end}));
  });
  const double steps = best_ms([&] {
    must(visit_samples(*must(Reader::open(path)), {begin, end}, [](const SampleSpan<ProcessSample>&) {}));
  });
  std::printf("%-9s %8.2f %9.1f %9.1f %9.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f\n", name,
              figures.bytes / (static_cast<double>(kTicks) * kProcesses), figures.bytes / 1e6,
              figures.written / figures.bytes, figures.cpu_us / static_cast<double>(kTicks),
              figures.upkeep_cpu_us / static_cast<double>(kTicks), figures.longest_ms, top, peaks, status, steps);
}

}  // namespace
}  // namespace memoir::test

// store_bench [FOLDER]: with a folder, the databases are kept there.
int main(int argc, char** argv) {
  const memoir::test::TemporaryDirectory directory;
  const std::string folder = argc > 1 ? argv[1] : directory.path();
  std::printf("One day of 300 processes at 10 s, synced at each tick. B/p/t: bytes of file per process and tick;\n");
  std::printf("written: bytes passed to write calls (wchar) per byte kept; times in ms, file cached.\n");
  std::printf("raw-: without rollups. upkeep: us per tick for them; longest: their longest write transaction, ms.\n\n");
  std::printf("%-9s %8s %9s %9s %9s %8s %8s %8s %8s %8s %8s\n", "", "B/p/t", "MB", "written", "us/tick", "upkeep",
              "longest", "top --at", "peaks", "status", "steps");
  memoir::test::measure("raw-quiet", folder, 0.05, false);
  memoir::test::measure("raw-busy", folder, 0.25, false);
  memoir::test::measure("quiet", folder, 0.05, true);
  memoir::test::measure("busy", folder, 0.25, true);
}
