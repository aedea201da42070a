#pragma once

// A changing population for the comparison with other programs: real processes, most of which sleep, as on a server,
// while the others change once a second, each like its family.

#include <cstddef>
#include <sys/types.h>
#include <vector>

namespace memoir::bench {

// Of each hundred processes 85 are idle, 5 slow (a page), 3 busy (256 KiB allocated and freed), 2 growing (64 KiB), 2
// sawteeth (up to 4 MiB, then none), 2 on shared memory (a page of 8 MiB), and one is a child with a copy-on-write
// part of its parent.
class Herd {
 public:
  // Each with private memory of its own, all of it resident.
  Herd(std::size_t processes, std::size_t private_kib);
  ~Herd();
  Herd(const Herd&) = delete;
  Herd& operator=(const Herd&) = delete;

 private:
  std::vector<pid_t> pids_;
};

// Measures the latency of mapping and unmapping a page in a process with much memory or many mappings: a walk of its
// page tables locks its mmap_lock.
class Victim {
 public:
  Victim(std::size_t private_mib, std::size_t regions);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  struct Latency {
    double p999_us = 0;
    double max_us = 0;
  };
  // Since the last call.
  Latency take();

 private:
  static constexpr std::size_t kMost = 4'000'000;
  struct Shared;

  Shared* shared_ = nullptr;
  pid_t pid_ = -1;
};

}  // namespace memoir::bench
