#pragma once

// A record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): `priority,sequence,microseconds,flags;message`. Lines
// that start with a space may follow; they contain a driver's device properties.
//
//   6,421,1749269887,-;usb 1-1: new device
//    SUBSYSTEM=usb
//    DEVICE=c189:1

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace memoir {

struct LogRecord {
  bool kernel = true;  // written by the kernel: writers to /dev/kmsg cannot use facility 0
  std::uint64_t sequence = 0;
  std::int64_t boot_us = 0;  // on the log's own clock (log_clock.h)
  bool fragment = false;     // part of a line that another CPU's message interrupted
  std::string_view message;  // unescape_log() decodes it; a view into the text
};

// Parses one record, with or without the lines of its device. Any other text is malformed.
Result<LogRecord> parse_log_record(std::string_view text);

// Returns the logged bytes. The kernel writes backslashes and bytes that are not printable ASCII as \xNN.
std::string unescape_log(std::string_view message);

}  // namespace memoir
