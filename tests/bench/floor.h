#pragma once

// The floor: the cost of reading the files of a tick and discarding their text, in a bare loop of system calls. It
// lists /proc, reads status and smaps_rollup of each process (statm of kernel threads), and meminfo, vmstat and
// pressure/memory of the machine.

#include <array>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace memoir::bench {

class Floor {
 public:
  // If `keep`, descriptors are cached and read again with pread. Otherwise each file is opened and closed for each
  // read.
  explicit Floor(bool keep);
  ~Floor();
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  // Reads all files once. Returns the number of processes read.
  std::size_t pass();

 private:
  struct Process {
    bool kernel_thread = false;
    int statm = -1;
    int status = -1;
    int rollup = -1;
  };

  void read(int& kept, const char* path);
  void read_process(int pid);

  bool keep_;
  int proc_;
  std::unordered_map<int, Process> processes_;
  std::array<int, 3> machine_{-1, -1, -1};
  std::vector<char> entries_ = std::vector<char>(32 * 1024);
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);
};

}  // namespace memoir::bench
