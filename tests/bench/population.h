#pragma once

// Real processes for the benchmarks: idle forked children, each with private memory and all mappings of the forking
// program, like small servers.

#include <cstddef>
#include <sys/types.h>
#include <vector>

namespace memoir::bench {

class Population {
 public:
  Population(std::size_t processes, std::size_t private_kib);
  ~Population();
  Population(const Population&) = delete;
  Population& operator=(const Population&) = delete;

  // Makes the next `count` processes free or allocate 64 KiB; returns when they are done.
  void stir(std::size_t count);

 private:
  struct Member {
    pid_t pid = -1;
    int socket = -1;
  };

  std::vector<Member> members_;
  std::size_t next_ = 0;
};

}  // namespace memoir::bench
