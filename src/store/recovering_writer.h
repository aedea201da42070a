#pragma once

// A Writer that goes on whatever happens to its file. The one that Writer::open gives has one file; this one opens it
// (again) when it can, and begins a fresh one where it must:
//
//   damaged             set aside whole (store/write/set_aside.h), a fresh file is begun; at most every ten minutes
//   deleted or moved    noticed at the next tick; a fresh file is begun at the path
//   full disk, I/O      an error, as of any Writer; the caller tries again
//   a refused tick      an error (ErrorKind::refused); the tick after it starts from what the file holds
//   a long reader       nothing fails, but the -wal cannot shrink: said when it is long
//
// A fresh file gets the run with it, and an event that says why: set-aside, moved, wal.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "store/writer.h"

namespace memoir {

struct RecoveringOptions {
  Durability durability = Durability::full;
  std::int64_t long_wal_bytes = std::int64_t{64} << 20;
  std::int64_t set_aside_every_ms = 600'000;
  // Called, on the thread that writes, when the next tick must introduce every process again: a fresh file was begun,
  // or a tick was refused.
  std::function<void()> on_anew{};
};

// Refused at once: what trying again would not fix, as a folder that is missing, a file that is not ours or another
// recorder. A full disk or an I/O error is logged, and the file is opened with the first run.
Result<std::unique_ptr<Writer>> open_recovering(const std::string& path, const Clock& clock, RecoveringOptions options);

}  // namespace memoir
