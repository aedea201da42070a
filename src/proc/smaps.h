#pragma once

// /proc/PID/smaps: every mapping of a process, a line of /proc/PID/maps and then the lines of smaps_rollup and some
// more.
//
//   7f2c1a400000-7f2c1a600000 rw-s 00001000 00:17 42                         /dev/shm/a file (deleted)
//   Size:               2048 kB
//   Rss:                1612 kB
//   VmFlags: rd wr sh mr mw me ms sd
//
// A process may have 65,000 of them, a text of 50 MB and more: it is parsed as it is read, and no more than a region
// and a line of it is held. Which lines there are depends on the kernel; an unknown one is passed over, a missing one
// is absent.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/process.h"
#include "proc/rollup_keys.h"

namespace memoir {

struct SmapsRegion {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string permissions;  // "rw-p": read, write, execute; private or shared
  std::uint64_t offset = 0;
  std::uint32_t major = 0;  // of the device
  std::uint32_t minor = 0;
  std::uint64_t inode = 0;
  // To the end of the line, blanks and " (deleted)" with it. A newline, which the kernel writes as "\012", is undone; a
  // backslash it writes as it is, so that a name with the four characters \012 looks the same.
  std::string path;
  ProcessMemory memory;  // the rollup fields of this region

  bool shared() const { return permissions.ends_with('s'); }

  bool operator==(const SmapsRegion&) const = default;
};

class SmapsParser {
 public:
  using OnRegion = std::function<void(const SmapsRegion&)>;

  // Each region is handed out once it is whole: when the next begins, or at the end.
  explicit SmapsParser(OnRegion on_region) : on_region_(std::move(on_region)) {}

  // The next piece of the text, of any size. A known line that is not a whole "N kB", a region's first line that cannot
  // be understood, or a line or path that is too long for one: malformed, with the line. After an error the parser is
  // of no more use, and regions handed out before it are not all.
  Status add(std::string_view piece);

  // The text ended. None at all: gone (the process exited, executed another image, or is a kernel thread). In the
  // middle of a line, or without any known line: malformed. Behind a whole line: the region lacks the lines behind it.
  Status finish();

 private:
  Status read_lines(std::string_view text);
  bool take_zero(std::string_view& text);
  bool read_line(const KeyLine& line);
  void keep_zero(std::string_view line);
  bool read_region(std::string_view line);

  const OnRegion on_region_;
  std::string torn_;  // the start of a line whose end comes with the next piece
  KeyCursor<kRollupFields> cursor_{kRollupKeys};
  // Of each field the line that says 0, as this kernel writes it: most lines are one of those. All have the same
  // length.
  std::array<std::array<char, 28>, kRollupFields> zeros_{};
  SmapsRegion region_;
  bool in_region_ = false;
  bool any_line_ = false;
  bool any_known_ = false;
};

}  // namespace memoir
