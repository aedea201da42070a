#pragma once

// A file that is there whole or not at all: written as "F.partial" beside F, synced, and renamed to F at the end.
// Whatever goes wrong before leaves F as it was.

#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

enum class Existing { keep, replace };

class PartialFile {
 public:
  // Makes an empty F.partial that only one program writes at a time. Refused: an F that is to be kept, a directory, a
  // folder that is not there or may not be written.
  static Result<PartialFile> begin(const std::string& path, Existing existing, mode_t mode = kGroupReads);
  static constexpr mode_t kGroupReads = 0640;  // command lines are not for everyone

  PartialFile(PartialFile&& other) noexcept = default;
  PartialFile& operator=(PartialFile&& other) = delete;
  ~PartialFile();  // removes F.partial, unless it was committed

  // Where to write to.
  std::string partial_path() const { return path_ + ".partial"; }

  // Appends to F.partial: for who does not open it.
  Status write(std::string_view text);

  // Call it when nobody else has F.partial open any more.
  Status commit();

 private:
  PartialFile(std::string path, Existing existing, Fd fd)
      : path_(std::move(path)), existing_(existing), fd_(std::move(fd)) {}

  std::string path_;
  Existing existing_;
  Fd fd_;  // holds the lock; none after a commit
};

}  // namespace memoir
