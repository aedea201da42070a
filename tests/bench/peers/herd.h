#pragma once

// A changing population for the comparison with other programs: real processes, of which most sleep, as on a server.
// The others change once a second, each according to its family.

#include <cstddef>
#include <sys/types.h>
#include <vector>

namespace memoir::bench {

// In each hundred processes, 85 are idle, 5 grow by a page a second, 3 allocate and free 256 KiB, 2 grow by 64 KiB, 2
// are sawteeth of up to 4 MiB, 2 touch a page of 8 MiB of shared memory, and one is a child with a copy-on-write part
// of its parent.
class Herd {
 public:
  // Each process has private resident memory of `private_kib`.
  Herd(std::size_t processes, std::size_t private_kib);
  ~Herd();
  Herd(const Herd&) = delete;
  Herd& operator=(const Herd&) = delete;

 private:
  std::vector<pid_t> pids_;
};

// Measures how long it takes to map and unmap a page in a process with much memory or many mappings. A reader that
// walks its page tables holds its mmap_lock.
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
  // Returns the latency since the last call.
  Latency take();

 private:
  static constexpr std::size_t kMost = 4'000'000;
  struct Shared;

  Shared* shared_ = nullptr;
  pid_t pid_ = -1;
};

}  // namespace memoir::bench
