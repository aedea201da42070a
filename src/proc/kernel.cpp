#include "proc/kernel.h"

#include <algorithm>

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

}  // namespace memoir
