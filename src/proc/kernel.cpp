#include "proc/kernel.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::string_view kUuidShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

bool is_uuid(std::string_view text) {
  const auto fits = [](char c, char shape) {
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    return shape == '-' ? c == '-' : hex;
  };
  return std::equal(text.begin(), text.end(), kUuidShape.begin(), kUuidShape.end(), fits);
}

}  // namespace

Result<std::string> parse_boot_id(std::string_view text) {
  const std::string_view id = trim(text);
  if (!is_uuid(id)) return bad_line("sys/kernel/random/boot_id", text);
  return std::string(id);
}

Result<std::int64_t> parse_btime(std::string_view text) {
  KeyLine line;
  while (next_line(text, ' ', line)) {
    if (line.key != "btime") continue;
    const auto seconds = line.count();
    if (!seconds || *seconds > std::numeric_limits<std::int64_t>::max() / 1000) return bad_line("stat", line.text);
    return *seconds * 1000;
  }
  return malformed("stat: has no btime");
}

Result<std::int64_t> parse_uptime(std::string_view text) {
  // The second number, idle time, says that the first is whole.
  std::string_view rest = text;
  const auto hundredths = parse_hundredths(cut_word(rest));
  if (!hundredths || *hundredths > std::numeric_limits<std::int64_t>::max() / 10 || trim(rest).empty()) {
    return bad_line("uptime", text);
  }
  return *hundredths * 10;
}

}  // namespace memoir
