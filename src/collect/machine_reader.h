#pragma once

// Reads the machine's own memory: meminfo, vmstat, pressure/memory and sysvipc/shm, by descriptors that stay open.

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

  // Whether the last read found pressure/memory.
  bool has_pressure() const { return has_pressure_; }

 private:
  Result<std::string_view> text(SystemFile file, Fd& kept, Buffer& buffer);

  ProcFs proc_;
  Fd meminfo_;
  Fd vmstat_;
  Fd pressure_;
  Fd sysvipc_shm_;
  bool has_pressure_ = true;
};

}  // namespace memoir
