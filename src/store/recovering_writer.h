#pragma once

// A Writer that continues after any failure of its file. Unlike the writer that Writer::open() returns, it opens the
// file again when it can, and starts a fresh file when it must:
//
//   damaged             two checks confirm it; then the file is renamed, and a new one is started;
//                       at most every ten minutes
//   deleted or moved    noticed at the next tick; a fresh file is started at the path
//   full disk, I/O      returns an error, like any Writer; the caller tries again
//   a refused tick      returns an error (ErrorKind::refused); the next tick continues from the state in the file
//   a long reader       returns an error (ErrorKind::blocked) once the -wal is full; an event names the reader
//   lost -wal or -shm   noticed at the next tick; recording continues from the state in the main file
//
// A file that is opened again starts with the current run and an event with the reason: quarantined, moved.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "store/writer.h"

namespace memoir {

struct RecoveringOptions {
  Durability durability = Durability::full;
  std::int64_t quarantine_every_ms = 600'000;
  // Called on the writing thread when the next tick must introduce every process again: a fresh file was started, or a
  // tick was refused.
  std::function<void()> on_new_file{};
};

// Fails at once for a problem that trying again cannot fix: a missing folder, a foreign file or another recorder. A
// full disk or an I/O error is logged, and the file is opened when the first run starts.
Result<std::unique_ptr<Writer>> open_recovering(const std::string& path, const Clock& clock, RecoveringOptions options);

}  // namespace memoir
