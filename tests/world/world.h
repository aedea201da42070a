#pragma once

// A machine as a model: processes and the memory they map. Pure: no I/O, no clock; time is a parameter. Each page
// belongs to one object, and RSS, PSS, swap and the machine's totals are sums over objects: they add up by
// construction.
//
// Processes have serial numbers, because pids are soon reused. A change of an absent subject does nothing and returns
// false, so that steps can be dropped from a schedule.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/process.h"

namespace memoir::world {

// Sizes are multiples of it: shares of up to ten processes divide without remainder.
inline constexpr std::int64_t kUnitKib = 5040;

enum class PageKind : std::uint8_t { anon, file, shmem };

// Memory with the same mappers.
struct Pages {
  PageKind kind = PageKind::anon;
  std::int64_t kib = 0;          // resident
  std::int64_t swapped_kib = 0;  // besides; not of file
  std::set<int> mappers;         // serials
};

struct Process {
  int serial = 0;
  int parent = 0;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint32_t uid = 0;
  int image = 0;  // execs so far
  std::string comm;
  std::vector<std::string> arguments;
  std::string cgroup;
  std::int64_t hwm_kib = 0;  // of this image
  std::uint64_t minor_faults = 0;
  int heap = 0;        // pages of its own
  std::set<int> maps;  // with the heap
};

class World {
 public:
  static constexpr std::int64_t kTotalKib = 16 << 20;
  static constexpr std::int64_t kSwapKib = 8 << 20;
  static constexpr std::int64_t kKernelKib = 1 << 20;  // in use besides the pages here

  World();  // with a process that never ends, init: serial 1

  bool add_object(int id, PageKind kind, std::int64_t kib);

  bool start(int serial, int parent, const std::string& comm, std::int64_t kib, std::uint32_t uid,
             const std::string& cgroup, std::int64_t boot_ms);
  bool fork(int parent, int child, std::int64_t boot_ms);  // shares all pages until one of both writes
  bool exec(int serial, const std::string& comm, std::int64_t kib);
  bool exit(int serial);

  // No process frees all its memory.
  bool resize(int serial, std::int64_t kib);  // of the heap, by as much
  bool copy_on_write(int serial);             // copies the anonymous pages that it shares
  bool map(int serial, int object);
  bool unmap(int serial, int object);
  bool swap_out(int serial, std::int64_t kib);  // of the heap, as far as resident
  bool swap_in(int serial);
  bool swap_object(int object, std::int64_t kib);  // of a shmem object, in total
  bool kill(int serial);                           // by the OOM killer; exit() follows

  const std::map<int, Process>& processes() const { return processes_; }
  const Process* find(int serial) const;
  const std::map<int, Pages>& objects() const { return objects_; }

  // All fields of status and smaps_rollup.
  ProcessMemory memory(const Process& process) const;
  std::int64_t rss_kib(const Process& process) const;

  std::int64_t resident_kib(PageKind kind) const;
  std::int64_t mapped_kib() const;  // file and shmem pages with a mapper
  std::int64_t swapped_kib() const;
  std::int64_t used_kib() const;
  std::int64_t oom_kills() const { return oom_kills_; }

 private:
  static constexpr int kFirstPrivate = 1'000'000;  // ids below are the schedule's

  Process* changed(int serial);
  std::int32_t next_pid();
  int add_pages(PageKind kind, std::int64_t kib, int mapper);
  void attach(Process& process, int pages);
  void detach(Process& process, int pages);
  void update_hwm(Process& process);

  std::map<int, Process> processes_;
  std::map<int, Pages> objects_;
  int last_private_ = kFirstPrivate;
  std::int32_t last_pid_ = 0;
  std::int64_t oom_kills_ = 3;  // before the recording
};

}  // namespace memoir::world
