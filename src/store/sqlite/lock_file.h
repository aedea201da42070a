#pragma once

// Ensures one recorder per database by flock on "F.lock", which only its owner may open, so no other user can hold it.
// Readers query the recorder's lock on "F.pid": its text is the recorder's pid, and the recorder holds a write lock on
// it while it runs. A process with only read permission can query that lock, but cannot take it. The kernel releases
// both locks when the process exits, so the files may stay. Neither a reused pid nor the pid namespace matters.

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

// Takes the lock of the database at `path`, which is held as long as the returned object exists. If another process
// holds it, the error names its pid.
Result<RecorderLock> acquire_lock(const std::string& path);

struct LockState {
  bool visible = false;               // the lock is readable: without an owner, no process records into the file
  std::optional<std::int32_t> owner;  // pid of the recorder; 0 if it is unknown
};

LockState read_lock_state(const std::string& path);

}  // namespace memoir
