#pragma once

// A record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): `priority,sequence,microseconds,flags;message`, and lines
// that begin with a space for what a driver says of its device.
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
  bool kernel = true;  // the kernel's own words: who writes to /dev/kmsg cannot take facility 0
  std::uint64_t sequence = 0;
  std::int64_t boot_us = 0;  // by the log's own clock (log_clock.h)
  bool fragment = false;     // of a line that was cut in two by what another CPU had to say
  std::string_view message;  // as it stands there (unescape_log()); a view into the text
};

// The text of one record, with the lines of its device or without them. What is none is malformed.
Result<LogRecord> parse_log_record(std::string_view text);

// The bytes that were logged: the kernel writes those that are not printable ASCII, and the backslash, as \xNN.
std::string unescape_log(std::string_view message);

}  // namespace memoir
