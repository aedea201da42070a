#pragma once

// Reads the machine's own memory: meminfo, vmstat, pressure/memory and sysvipc/shm, by descriptors that stay open.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "collect/pass.h"
#include "proc/proc_fs.h"

namespace memoir {

class MachineReader {
 public:
  explicit MachineReader(ProcFs proc) : proc_(std::move(proc)) {}

  // Into the tick. Without meminfo an error; without the others their fields are absent.
  Status read(Pass& pass);

  // MemAvailable now; absent where it cannot be read.
  std::optional<std::int64_t> available_kib(Buffer& buffer);

  // Whether the last read found pressure/memory.
  bool has_pressure() const { return has_pressure_; }

  // The segments are told again by the next tick, whether or not they changed.
  void tell_all() { segments_.reset(); }

 private:
  Result<std::string_view> text(SystemFile file, Buffer& buffer);
  void read_segments(std::string_view text, Pass& pass);

  ProcFs proc_;
  std::array<Fd, kSystemFiles.size()> kept_;
  std::optional<std::vector<SysvSegment>> segments_;  // as told last
  bool has_pressure_ = true;
};

}  // namespace memoir
