// One simulated day at 10 s through the real writer: what a tick costs in file, in writes and in CPU, and how long the
// query tool's calls take on that file.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "store/reader.h"
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
};

// A field of /proc/self/io. wchar counts what write calls were given, on any file system.
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

Figures record(const std::string& path, double changing) {
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
      figures.cpu_us += static_cast<double>(thread_cpu_us() - start);
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

void measure(const char* name, const std::string& folder, double changing) {
  const std::string path = folder + "/" + name + ".db";
  const Figures figures = record(path, changing);
  const std::int64_t begin = SimulationOptions{}.start.wall_ms;
  const std::int64_t end = begin + kTicks * 10'000;
  const double top = best_ms([&] {
    const auto reader = must(Reader::open(path));
    // Just before a keyframe: the most rows to look through.
    const auto tick = must(reader->tick_at(begin + 20 * 3'600'000 - 10'000));
    must(reader->snapshot(tick->id));
  });
  const double peaks = best_ms([&] { must(must(Reader::open(path))->high_water(Range{begin, end})); });
  const double status = best_ms([&] {
    const auto reader = must(Reader::open(path));
    must(reader->info());
    must(reader->runs());
    must(reader->coverage({begin, end}));
  });
  const double steps = best_ms([&] {
    must(must(Reader::open(path))->process_steps({begin, end}, [](const ProcessStep&) {}));
  });
  std::printf("%-6s %8.2f %9.1f %9.1f %9.1f %8.1f %8.1f %8.1f %8.1f\n", name,
              figures.bytes / (static_cast<double>(kTicks) * kProcesses), figures.bytes / 1e6,
              figures.written / figures.bytes, figures.cpu_us / static_cast<double>(kTicks), top, peaks, status, steps);
}

}  // namespace
}  // namespace memoir::test

// store_bench [FOLDER]: with a folder, the databases stay there.
int main(int argc, char** argv) {
  const memoir::test::TemporaryDirectory directory;
  const std::string folder = argc > 1 ? argv[1] : directory.path();
  std::printf("One day of 300 processes at 10 s, synced at each tick. B/p/t: bytes of file per process and tick;\n");
  std::printf("written: bytes passed to write calls (wchar) per byte kept; times in ms, file cached.\n\n");
  std::printf("%-6s %8s %9s %9s %9s %8s %8s %8s %8s\n", "", "B/p/t", "MB", "written", "us/tick", "top --at", "peaks",
              "status", "steps");
  memoir::test::measure("quiet", folder, 0.05);
  memoir::test::measure("busy", folder, 0.25);
}
