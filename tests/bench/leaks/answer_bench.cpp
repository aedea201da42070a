// Cost of `memoir leaks` over a month, for every metric. The file has 500 processes with a tick every five minutes,
// stored by the real writer with the recorder's rollups.
//
//   leak_answer_bench [FILE]     keeps the file and reuses it

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "query/application.h"
#include "store/writer.h"
#include "support/simulation.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kIntervalMs = 300'000;
constexpr std::int64_t kTicks = 30 * 288;
constexpr std::size_t kProcesses = 500;
constexpr int kRuns = 5;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(result).value();
}

void record(const std::string& path) {
  Simulation simulation({.processes = kProcesses, .changing = 0.25, .births = 0.2, .interval_ms = kIntervalMs});
  const auto writer = must(Writer::open(path, Durability::normal));
  must(writer->begin_run({simulation.boot(), 1, "bench", kIntervalMs, simulation.now()}));
  for (std::int64_t at = 0; at < kTicks; ++at) {
    must(writer->write(simulation.next(at + 1 == kTicks)));
    while (must(writer->maintain()).more) {
    }
  }
  must(writer->end_run(simulation.now(), "stopped"));
}

void measure(const std::string& path, const std::vector<std::string>& more) {
  std::vector<std::string> words{"leaks", "--db", path, "--utc"};
  words.insert(words.end(), more.begin(), more.end());
  std::int64_t cpu_us = 0;
  std::int64_t wall_us = 0;
  std::string answer_text;
  for (int run = 0; run < kRuns; ++run) {
    const std::int64_t cpu = thread_cpu_us();
    const std::int64_t wall = steady_us();
    const query::Outcome outcome = query::run_query(words, SystemClock());
    const std::int64_t used = thread_cpu_us() - cpu;
    if (run == 0 || used < cpu_us) cpu_us = used;
    if (run == 0 || steady_us() - wall < wall_us) wall_us = steady_us() - wall;
    if (outcome.exit != query::Exit::answered) {
      std::fprintf(stderr, "%s\n", outcome.error.c_str());
      std::exit(1);
    }
    answer_text = outcome.out;
  }
  const std::size_t judged = answer_text.find(" judged");
  const std::size_t line = answer_text.rfind('\n', judged) + 1;
  std::printf("%-12s CPU %7.1f ms, wall %7.1f ms   %s\n", more.empty() ? "leaks" : more.front().c_str(),
              static_cast<double>(cpu_us) / 1000, static_cast<double>(wall_us) / 1000,
              answer_text.substr(line, answer_text.find('\n', line) - line).c_str());
}

}  // namespace
}  // namespace memoir::test

int main(int argc, char** argv) {
  using namespace memoir::test;
  const TemporaryDirectory directory;
  const std::string path = argc > 1 ? argv[1] : directory.path() + "/month.db";
  if (!std::filesystem::exists(path)) record(path);
  std::printf("%zu processes at a time, %lld ticks, %.1f MB\n", kProcesses, static_cast<long long>(kTicks),
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  measure(path, {});
  measure(path, {"--all"});
}
