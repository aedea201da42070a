#pragma once

// A model of a machine: processes and the memory that they map. Pure: no I/O and no clock; time is a parameter. Each
// page belongs to one object. RSS, PSS, swap and the machine's totals are sums over objects, so they always add up.
//
// Processes have serial numbers, because pids are soon reused. A change of a subject that does not exist does nothing
// and returns false, so that steps can be dropped from a schedule.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/process.h"

namespace memoir::world {

// All sizes are multiples of this one, so that shares of up to ten processes divide without remainder.
inline constexpr std::int64_t kUnitKib = 5040;

enum class PageKind : std::uint8_t { anon, file, shmem };

// Memory whose pages have the same mappers.
struct Pages {
  PageKind kind = PageKind::anon;
  std::int64_t kib = 0;          // resident
  std::int64_t swapped_kib = 0;  // swapped memory in addition to `kib`; 0 for files
  std::set<int> mappers;         // serials of the mapping processes
};

struct Process {
  int serial = 0;
  int parent = 0;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint32_t uid = 0;
  int image = 0;  // number of execs so far
  std::string comm;
  std::vector<std::string> arguments;
  std::string cgroup;
  std::int64_t hwm_kib = 0;  // high-water mark of this image
  std::uint64_t minor_faults = 0;
  int heap = 0;        // id of the pages of its heap
  std::set<int> maps;  // ids of all mapped pages, including the heap
};

class World {
 public:
  static constexpr std::int64_t kTotalKib = 16 << 20;
  static constexpr std::int64_t kSwapKib = 8 << 20;
  static constexpr std::int64_t kKernelKib = 1 << 20;  // kernel memory in use, in addition to the pages here

  World();  // contains only init, which has serial 1 and never exits

  bool add_object(int id, PageKind kind, std::int64_t kib);

  bool start(int serial, int parent, const std::string& comm, std::int64_t kib, std::uint32_t uid,
             const std::string& cgroup, std::int64_t boot_ms);
  bool fork(int parent, int child, std::int64_t boot_ms);  // shares all pages until one of them writes
  bool exec(int serial, const std::string& comm, std::int64_t kib);
  bool exit(int serial);

  // A process always keeps some memory.
  bool resize(int serial, std::int64_t kib);  // changes the size of the heap by `kib`
  bool copy_on_write(int serial);             // copies the shared anonymous pages
  bool map(int serial, int object);
  bool unmap(int serial, int object);
  bool swap_out(int serial, std::int64_t kib);  // swaps out this much of the heap, at most the resident part
  bool swap_in(int serial);
  bool swap_object(int object, std::int64_t kib);  // sets the swapped size of a shmem object
  bool kill(int serial);                           // counts an OOM kill; exit() follows

  const std::map<int, Process>& processes() const { return processes_; }
  const Process* find(int serial) const;
  const std::map<int, Pages>& objects() const { return objects_; }

  // Returns all fields of status and smaps_rollup.
  ProcessMemory memory(const Process& process) const;
  std::int64_t rss_kib(const Process& process) const;

  std::int64_t resident_kib(PageKind kind) const;
  std::int64_t mapped_kib() const;  // file and shmem pages that a process maps
  std::int64_t swapped_kib() const;
  std::int64_t used_kib() const;
  std::int64_t oom_kills() const { return oom_kills_; }

 private:
  static constexpr int kFirstPrivate = 1'000'000;  // lower ids belong to the schedule

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
  std::int64_t oom_kills_ = 3;  // kills before the recording
};

}  // namespace memoir::world
