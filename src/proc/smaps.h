#pragma once

// /proc/PID/smaps: every mapping of a process. Each has a line of /proc/PID/maps, followed by the lines of smaps_rollup
// and some more.
//
//   7f2c1a400000-7f2c1a600000 rw-s 00001000 00:17 42                         /dev/shm/a file (deleted)
//   Size:               2048 kB
//   Rss:                1612 kB
//   VmFlags: rd wr sh mr mw me ms sd
//
// A process may have 65,000 mappings, which is a text of 50 MB or more. It is parsed while it is read, with only one
// region and one line in memory. The lines depend on the kernel: unknown lines are skipped, and fields of missing lines
// are absent.

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
  std::uint32_t major = 0;  // major and minor number of the device of the mapped file
  std::uint32_t minor = 0;
  std::uint64_t inode = 0;
  // The remainder of the line, including blanks and " (deleted)". "\012" is decoded to a newline. The kernel does not
  // escape a backslash, so a name with the four characters \012 looks the same.
  std::string path;
  ProcessMemory memory;  // the rollup fields of this region

  bool shared() const { return permissions.ends_with('s'); }

  bool operator==(const SmapsRegion&) const = default;
};

class SmapsParser {
 public:
  using OnRegion = std::function<void(const SmapsRegion&)>;

  // Passes each region on when it is complete: when the next one starts, or in finish(). Regions with an odd first line
  // are skipped. `odd`: see key_lines.h.
  explicit SmapsParser(OnRegion on_region, OddLines* odd = nullptr) : on_region_(std::move(on_region)), odd_(odd) {}

  // Takes the next piece of the text, of any size. A line or path that is too long is malformed. After an error the
  // parser is unusable, and some regions have not been passed on.
  Status add(std::string_view piece);

  // Call it at the end of the text. An empty text is not_found: the process has exited, has executed another image, or
  // is a kernel thread. A text without a value is malformed, and so is one that ends within a line, because any number
  // of regions may be missing then. If the text ends after a complete line, the last region lacks the lines that would
  // follow.
  Status finish();

 private:
  Status read_lines(std::string_view text);
  bool take_zero(std::string_view& text);
  void read_line(const KeyLine& line);
  void keep_zero(std::string_view line);
  void read_region(std::string_view line);
  bool parse_region(std::string_view line);
  void note_odd(const KeyLine& line);

  const OnRegion on_region_;
  OddLines* const odd_;
  std::string torn_;  // the start of a line that ends in the next piece
  KeyCursor<kRollupFields> cursor_{kRollupKeys};
  // For each field, its line with value 0 as this kernel prints it. Most lines of a text equal one of these and need no
  // parsing. All have the same length.
  std::array<std::array<char, 28>, kRollupFields> zeros_{};
  SmapsRegion region_;
  bool in_region_ = false;
  bool any_line_ = false;
  bool any_value_ = false;
  std::array<bool, kRollupFields> seen_{};  // fields that this region's lines have set
};

}  // namespace memoir
