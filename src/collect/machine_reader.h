#pragma once

// Reads the machine's own memory from meminfo, vmstat, pressure/memory, zoneinfo and sysvipc/shm. Their descriptors
// stay open.

#include <array>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "collect/collect_context.h"
#include "proc/proc_fs.h"

namespace memoir {

class MachineReader {
 public:
  explicit MachineReader(ProcFs proc) : proc_(std::move(proc)) {}

  // Adds the values to the tick. Fields of an unreadable file are absent. Returns an error if meminfo is unreadable.
  Status read(CollectContext& context);

  // Returns the current MemAvailable; nullopt if unreadable.
  std::optional<std::int64_t> available_kib(Buffer& buffer);

  // Returns whether the last read found pressure/memory.
  bool has_pressure() const { return has_pressure_; }

  // Makes the next tick report the segments again, even if they are unchanged.
  void report_all() { segments_.reset(); }

 private:
  Result<std::string_view> text(SystemFile file, Buffer& buffer);
  void read_segments(std::string_view text, CollectContext& context);

  ProcFs proc_;
  std::array<Fd, kSystemFiles.size()> kept_;
  std::optional<std::vector<SysvSegment>> segments_;  // segments that were reported last
  const std::int64_t page_kib_ = ::sysconf(_SC_PAGESIZE) / 1024;
  bool has_pressure_ = true;
};

}  // namespace memoir
