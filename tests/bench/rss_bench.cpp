// The recorder's own memory over time. Runs memoird over many real processes, of which 5 % change per tick, and prints
// its RSS, which must stay low and flat.
//
// rss_bench [PROCESSES [INTERVAL [TICKS [BURST]]]]: by default 300 processes, 100 ms and 3600 ticks, which is an hour
// of 1 s ticks in six minutes. With BURST, that many additional processes then run for a few ticks, and the memory
// afterwards is printed for five minutes. It must be at most 1.3 times the memory before, at the same population.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/file.h"
#include "config/config.h"
#include "population.h"
#include "proc/proc_fs.h"
#include "proc/status.h"
#include "support/child.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

struct Plan {
  std::size_t processes = 300;
  std::string interval = "100ms";
  std::size_t ticks = 3600;
  std::size_t burst = 0;
};

constexpr std::size_t kLines = 12;

std::int64_t print_line(const test::Child& recorder, std::int64_t seconds, const std::string& db) {
  Buffer buffer;
  ProcessMemory memory;
  const ProcFs proc;
  const auto text = read_file(proc.path(recorder.pid(), PidFile::status), buffer);
  if (!text || !parse_status(*text, memory)) throw std::runtime_error("memoird ended: " + recorder.errors());
  std::error_code ignored;
  fmt::print("{:>6} s{:>12}{:>12}{:>12}{:>12}{:>14}\n", seconds, memory.or_zero(ProcessField::vm_rss),
             memory.or_zero(ProcessField::vm_hwm), memory.or_zero(ProcessField::rss_anon),
             memory.or_zero(ProcessField::rss_file), std::filesystem::file_size(db, ignored) / 1024);
  std::fflush(stdout);
  return memory.or_zero(ProcessField::vm_rss);
}

void watch_burst(const Plan& plan, const test::Child& recorder, const std::string& db,
                 std::chrono::milliseconds interval) {
  fmt::print("\nbefore, at the end of a burst of {} processes, and after it\n", plan.burst);
  const std::int64_t before = print_line(recorder, 0, db);
  {
    const Population burst(plan.burst, 64);
    std::this_thread::sleep_for(3 * interval + std::chrono::seconds(5));
    print_line(recorder, 0, db);
  }
  for (int seconds = 30; seconds <= 300; seconds += 30) {
    std::this_thread::sleep_for(std::chrono::seconds(30));
    const std::int64_t after = print_line(recorder, seconds, db);
    if (seconds == 300) {
      fmt::print("{:.2f} times what it was before\n", static_cast<double>(after) / static_cast<double>(before));
    }
  }
}

void watch(const Plan& plan) {
  const auto interval = parse_duration(plan.interval);
  if (!interval) throw std::runtime_error(interval.error().message);
  Population population(plan.processes, 2048);
  const test::TemporaryDirectory folder;
  const std::string db = folder.path() + "/memoir.db";
  test::Child recorder({.path = MEMOIRD, .arguments = {"--db", db, "--interval", plan.interval}});

  fmt::print("memoird over {} processes, {} ticks at {}; KiB\n\n", plan.processes, plan.ticks, plan.interval);
  fmt::print("{:>8}{:>12}{:>12}{:>12}{:>12}{:>14}\n", "after", "VmRSS", "VmHWM", "RssAnon", "RssFile", "database");
  const auto begin = std::chrono::steady_clock::now();
  const auto whole = *interval * static_cast<std::int64_t>(plan.ticks);
  for (std::size_t line = 1; line <= kLines; ++line) {
    const auto until = begin + whole * line / kLines;
    for (; std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(*interval))
      population.stir(plan.processes / 20);
    print_line(recorder, std::chrono::duration_cast<std::chrono::seconds>(until - begin).count(), db);
  }
  if (plan.burst > 0) watch_burst(plan, recorder, db, *interval);
  recorder.signal(SIGTERM);
  if (recorder.wait() != 0) throw std::runtime_error("memoird: " + recorder.errors());
}

}  // namespace

int main(int argc, char** argv) try {
  Plan plan;
  if (argc > 1) plan.processes = std::strtoul(argv[1], nullptr, 10);
  if (argc > 2) plan.interval = argv[2];
  if (argc > 3) plan.ticks = std::strtoul(argv[3], nullptr, 10);
  if (argc > 4) plan.burst = std::strtoul(argv[4], nullptr, 10);
  watch(plan);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "rss_bench: {}\n", error.what());
  return 1;
}
