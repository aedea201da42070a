#pragma once

// One recorder per database: flock on "F.lock", which nobody else may open, so that nobody else can hold it. Readers
// look at "F.pid": the text is the recorder's pid, and the recorder holds a write lock on it for as long as it lives.
// Who may only read it can ask for that lock, and cannot have it. The kernel drops both with the process, so that the
// files may stay; neither the pid, which another process may have by now, nor the pid namespace matters.

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

struct RecorderLock {
  Fd lock;
  Fd pid;

  explicit operator bool() const { return lock.valid(); }
};

// Takes the lock of the database at `path`; it is held as long as what is returned. Refused with the owner's pid.
Result<RecorderLock> take_lock(const std::string& path);

struct LockState {
  bool visible = false;               // we can look: nobody records into the file unless there is an owner
  std::optional<std::int32_t> owner;  // who records; 0 if somebody does who cannot be named
};

LockState look_at_lock(const std::string& path);

}  // namespace memoir
