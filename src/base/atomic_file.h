#pragma once

// A file that appears completely or not at all: written as "F.partial" next to F, synced, and renamed to F at the end.
// Any earlier failure leaves F unchanged.

#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Returns the database to which `path` belongs, such as "memoir.db" for "memoir.db-wal"; empty if none.
std::string database_of(const std::string& path);

enum class Existing { keep, replace };

class AtomicFile {
 public:
  // Creates an empty F.partial with an exclusive lock. Returns an error if F exists and must be kept, if it is no
  // regular file, or if the folder is missing or read-only.
  static Result<AtomicFile> begin(const std::string& path, Existing existing, mode_t mode = kGroupReads);
  static constexpr mode_t kGroupReads = 0640;  // others may not read the command lines in it

  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&& other) = delete;
  ~AtomicFile();  // removes F.partial, unless it was committed

  std::string partial_path() const { return path_ + ".partial"; }

  // Appends to F.partial.
  Status write(std::string_view text);

  // Syncs F.partial and renames it to F. No other code may have it open.
  Status commit();

 private:
  AtomicFile(std::string path, Existing existing, Fd fd)
      : path_(std::move(path)), existing_(existing), fd_(std::move(fd)) {}

  std::string path_;
  Existing existing_;
  Fd fd_;  // holds the lock; invalid after a commit
};

}  // namespace memoir
