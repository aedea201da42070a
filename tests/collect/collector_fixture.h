#pragma once

// A collector on a fake /proc, and lookups in its ticks.

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collect/collector.h"
#include "support/catch.h"
#include "support/fake_proc.h"
#include "support/manual_clock.h"

namespace memoir::test {

inline CollectorOptions many_descriptors() {
  CollectorOptions options;
  options.max_descriptors = 1000;
  return options;
}

inline std::unique_ptr<TickSource> make_collector(
    const ProcFs& proc, const Clock& clock, const CollectorOptions& options = many_descriptors(),
    Result<std::unique_ptr<Census>> census = std::unique_ptr<Census>(),
    Result<std::unique_ptr<ProcessEvents>> events = std::unique_ptr<ProcessEvents>()) {
  // Compiled once, because compiling the patterns takes longer than most ticks.
  static const auto categoriser = Categoriser::make(default_category_rules());
  REQUIRE(categoriser.ok());
  static const auto redactor = Redactor::make({});
  REQUIRE(redactor.ok());
  return make_proc_source(proc, clock, *categoriser, *redactor, options, std::move(census), std::move(events));
}

inline bool has_sample(const Tick& tick, std::int32_t pid) {
  return std::any_of(tick.processes.begin(), tick.processes.end(),
                     [&](const ProcessSample& sample) { return sample.key.pid == pid; });
}

// These throw if the process has no entry.
inline ProcessSample sample_of(const Tick& tick, std::int32_t pid) {
  for (const ProcessSample& sample : tick.processes) {
    if (sample.key.pid == pid) return sample;
  }
  throw std::runtime_error("no sample of process " + std::to_string(pid));
}

inline ProcessInfo born_of(const Tick& tick, std::int32_t pid) {
  for (const ProcessInfo& info : tick.born) {
    if (info.key.pid == pid) return info;
  }
  throw std::runtime_error("no ProcessInfo of process " + std::to_string(pid));
}

// A fake machine and its collector.
struct Machine {
  FakeProc proc;
  ManualClock clock{{FakeProc::kBootMs + 1'000'000, 1'000'000}};
  std::unique_ptr<TickSource> collector;

  explicit Machine(const CollectorOptions& options = many_descriptors())
      : collector(make_collector(proc.proc(), clock, options)) {}

  Tick tick(bool keyframe = false) {
    auto result = collector->collect(keyframe);
    if (!result) FAIL(result.error().message);
    clock.advance(1000);
    return *std::move(result);
  }
};

inline FakeProcess fake(std::int32_t pid, std::string comm, std::int64_t private_kib = 1000) {
  FakeProcess process;
  process.pid = pid;
  process.comm = std::move(comm);
  process.start_ticks = 1000 + static_cast<std::uint64_t>(pid);
  process.exe = std::string("/usr/bin/").append(process.comm);
  process.cwd.assign(1, '/');  // g++ 12 warns if "/" is copied
  process.arguments = {process.exe};
  process.memory = memory_of(private_kib, 200);
  return process;
}

}  // namespace memoir::test
