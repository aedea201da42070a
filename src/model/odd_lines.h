#pragma once

// Lines of the kernel's text files that could not be parsed. Their values are unknown; all other lines are used. The
// size is bounded for any text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memoir {

// The lines of one file with the same key.
struct OddLine {
  std::string file;     // "meminfo", "smaps_rollup"
  std::string key;      // "MemFree"; empty if the line has no key, or for the whole text
  std::string problem;  // problem of the first line, printable: `cannot understand "MemFree: -4 kB"`, `has no Uid`
  std::int64_t count = 0;

  bool operator==(const OddLine&) const = default;
};

class OddLines {
 public:
  static constexpr std::size_t kMaxKinds = 8;  // further kinds are only counted

  // `key` and `line` may hold any bytes.
  void note(std::string_view file, std::string_view key, std::string_view line);
  // Notes a problem that is not a single unreadable line: "has no MemTotal", "is larger than MemTotal".
  void note_problem(std::string_view file, std::string_view key, std::string_view problem);
  // Notes a text that could not be parsed at all: "FILE: PROBLEM".
  void note(const Error& error);
  void add(const OddLines& other);

  std::int64_t count() const { return count_; }
  // In order of arrival.
  const std::vector<OddLine>& kinds() const { return kinds_; }

  bool operator==(const OddLines&) const = default;

 private:
  void add(OddLine odd);

  std::vector<OddLine> kinds_;
  std::int64_t count_ = 0;
};

}  // namespace memoir
