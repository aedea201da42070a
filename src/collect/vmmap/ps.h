#pragma once

// Parses the output of ps(1) with the columns below, which macOS, the BSDs and procps support, in the C locale and UTC:
//
//     412     1   412   501 alice    S    Sun Nov 22 12:42:56 2026 /usr/bin/ssh-agent -l

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace memoir {

// The columns in their order; they are requested without headers.
inline constexpr std::array<std::string_view, 8> kPsColumns{"pid",  "ppid", "pgid",   "uid",
                                                            "user", "stat", "lstart", "command"};

// One process; the texts are views into its line.
struct PsProcess {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::int32_t group = 0;
  std::uint32_t uid = 0;
  std::string_view user;
  char state = '?';           // as in Linux's status; U (uninterruptible) of the BSDs is D
  std::int64_t start_ms = 0;  // ps has whole seconds
  std::string_view command;   // rest of the line; a blank within an argument looks like one between arguments
};

Result<PsProcess> parse_ps_line(std::string_view line);

}  // namespace memoir
