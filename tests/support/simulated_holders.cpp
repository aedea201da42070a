#include "support/simulated_holders.h"

#include <algorithm>

namespace memoir::test {
namespace {

using P = ProcessField;

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kSummaryMs = 15 * kMinuteMs;
constexpr std::int64_t kWalkMs = 30 * kMinuteMs;

std::string id_of(std::size_t number) {
  const std::string digits = std::to_string(10'000 + number);
  return digits + std::string(64 - digits.size(), 'a');
}

CgroupSample cgroup(std::string path, std::int64_t kib) {
  CgroupSample sample;
  sample.path = std::move(path);
  sample.current_kib = kib;
  sample.file_kib = kib / 4;
  sample.swap_kib = 0;
  sample.anon_kib = kib / 2;
  sample.shmem_kib = kib / 16;
  sample.kernel_kib = kib / 32;
  return sample;
}

TmpfsSample mount(std::string path) {
  TmpfsSample mount;
  mount.mount_point = std::move(path);
  mount.walk = TmpfsWalk::whole;
  mount.limit_kib = 4096 * kMib;
  mount.used_kib = 300 * kMib;
  mount.inodes = 10'000;
  mount.content = {.entries = 10'000, .directories = 100, .allocated_kib = 300 * kMib, .logical_kib = 290 * kMib};
  for (int i = 0; i < 16; ++i) {
    const std::string folder = "d" + std::to_string(100 + i);
    mount.largest.push_back({.path = folder, .directory = true, .allocated_kib = 10 * kMib, .entries = 100});
    mount.largest.push_back({.path = folder + "/file", .allocated_kib = 8 * kMib, .logical_kib = 8 * kMib});
  }
  return mount;
}

MappingUse use(std::int64_t kib, bool shared) {
  MappingUse use;
  use.regions = 1;
  use.size_kib = 2 * kib;
  for (std::size_t i = 0; i < kRollupFields; ++i) use.memory.set(static_cast<P>(i), 0);
  use.memory.set(P::rss, kib);
  use.memory.set(P::pss, shared ? kib / 3 : kib);
  use.memory.set(shared ? P::shared_clean : P::private_dirty, kib);
  return use;
}

// Every sixth library is a deleted file.
MappingRow library(std::int64_t number, std::int64_t kib) {
  if (number % 18 == 0)
    return {{MappingKind::memfd, "/memfd:ring-" + std::to_string(number) + " (deleted)"}, use(kib, true)};
  const std::string path = "/usr/lib/x86_64-linux-gnu/lib" + std::to_string(number) + ".so.1";
  return {{MappingKind::file, number % 6 == 0 ? path + " (deleted)" : path}, use(kib, true)};
}

}  // namespace

SimulatedHolders::SimulatedHolders(const Options& options) : options_(options) {
  for (std::size_t i = 0; i < options_.cgroups; ++i) {
    const std::string id = id_of(i);
    const std::string path = "/system.slice/docker-" + id + ".scope";
    cgroups_.push_back(cgroup(path, random(10, 900) * kMib));
    containers_.push_back({path, container_in(path)});
    containers_.back().container.name = "app-" + std::to_string(i);
  }
  for (std::size_t i = 0; i < options_.segments; ++i) {
    const auto id = static_cast<std::int64_t>(i);
    segments_.push_back(
        {.shmid = id, .creator_pid = 300, .size_kib = 8 * kMib, .attachments = id % 3, .rss_kib = kMib});
  }
  for (std::size_t i = 0; i < options_.mounts; ++i) mounts_.push_back(mount("/run/mount-" + std::to_string(i)));
}

void SimulatedHolders::add_to(Tick& tick) {
  add_cgroups(tick);
  if (ticks_ % 6 == 0) {
    add_details(tick);
    add_segments(tick);
    add_mounts(tick);
  }
  add_summaries(tick);
  ++ticks_;
}

std::int64_t SimulatedHolders::random(std::int64_t from, std::int64_t to) {
  return from + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(to - from + 1));
}

bool SimulatedHolders::chance(double probability) {
  return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability;
}

void SimulatedHolders::add_cgroups(Tick& tick) {
  if (ticks_ == 0) tick.containers = containers_;
  for (ProcessInfo& info : tick.born) {
    const auto number = static_cast<std::size_t>(info.key.pid);
    if (number % 2 == 0 && !cgroups_.empty()) info.cgroup = cgroups_[number / 2 % cgroups_.size()].path;
  }
  CgroupSample slice = cgroup("/system.slice", 0);
  for (CgroupSample& sample : cgroups_) {
    if (chance(0.1)) {
      sample = cgroup(sample.path, std::max<std::int64_t>(sample.current_kib + 4 * random(-500, 500), kMib));
    }
    slice.current_kib += sample.current_kib;
  }
  tick.cgroups.push_back(cgroup(slice.path, slice.current_kib));
  tick.cgroups.insert(tick.cgroups.end(), cgroups_.begin(), cgroups_.end());
}

void SimulatedHolders::add_details(Tick& tick) const {
  std::vector<CgroupDetail>& details = tick.cgroup_details.emplace();
  details.reserve(tick.cgroups.size());
  for (const CgroupSample& sample : tick.cgroups) {
    CgroupDetail& detail = details.emplace_back(CgroupDetail{.path = sample.path});
    detail.peak_kib = 1000 * kMib;
    detail.max_events = detail.oom_events = detail.oom_kills = 0;
    detail.psi_some_total_us = detail.psi_full_total_us = details.size() % 10 == 0 ? ticks_ : 0;
  }
}

void SimulatedHolders::add_segments(Tick& tick) {
  for (SysvSegment& segment : segments_) {
    if (chance(0.1)) segment.rss_kib = 4 * random(0, 2 * kMib);
  }
  tick.segments = segments_;
}

void SimulatedHolders::add_mounts(Tick& tick) {
  for (TmpfsSample& mount : mounts_) {
    if (chance(0.2)) mount.used_kib = *mount.used_kib + 4 * random(-kMib, kMib);
    if (mount.walked_ms && tick.begin.wall_ms - *mount.walked_ms < kWalkMs) continue;
    mount.walked_ms = tick.begin.wall_ms;
    for (TmpfsEntry& entry : mount.largest) {
      if (!chance(0.2)) continue;
      entry.allocated_kib = 4 * random(16, 4 * kMib);
      entry.changed_ms = tick.begin.wall_ms;
    }
  }
  tick.tmpfs = mounts_;
}

// Adds the summaries of the largest processes, in rotation.
void SimulatedHolders::add_summaries(Tick& tick) {
  std::vector<const ProcessSample*> largest;
  largest.reserve(tick.processes.size());
  for (const ProcessSample& sample : tick.processes) largest.push_back(&sample);
  const auto kept = static_cast<std::ptrdiff_t>(std::min(options_.summaries, largest.size()));
  std::ranges::partial_sort(largest, largest.begin() + kept, std::ranges::greater(),
                            [](const ProcessSample* sample) { return sample->memory.or_zero(P::pss); });
  largest.resize(static_cast<std::size_t>(kept));
  std::ranges::sort(largest, {}, [](const ProcessSample* sample) { return sample->key; });
  for (const ProcessSample* const sample : largest) {
    const auto [read, is_new] = read_.try_emplace(sample->key, 0);
    if (!is_new && tick.begin.wall_ms - read->second < kSummaryMs) continue;
    read->second = tick.begin.wall_ms;
    tick.summaries.push_back({.process = sample->key,
                              .summary = summary_of(*sample),
                              .read_ms = tick.begin.wall_ms,
                              .regions = 200,
                              .cpu_us = 900,
                              .wall_us = 950});
  }
}

// Varies the process's private memory, and hardly its shared memory.
MappingSummary SimulatedHolders::summary_of(const ProcessSample& sample) {
  const ProcessMemory& memory = sample.memory;
  MappingSummary summary;
  summary.rows.push_back({{MappingKind::heap, "[heap]"}, use(memory.or_zero(P::private_dirty) / 2, false)});
  summary.rows.push_back({{MappingKind::anonymous, ""}, use(memory.or_zero(P::private_dirty) / 3, false)});
  summary.rows.push_back({{MappingKind::stack, "[stack]"}, use(132, false)});
  for (std::size_t i = summary.rows.size(); i < options_.labels; ++i) {
    const std::int64_t number = (sample.key.pid % 7 + 1) * static_cast<std::int64_t>(i);
    summary.rows.push_back(library(number, 4 * number + (chance(0.1) ? 4 : 0)));
  }
  std::ranges::sort(summary.rows, ranks_before);
  return summary;
}

}  // namespace memoir::test
