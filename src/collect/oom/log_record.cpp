#include "collect/oom/log_record.h"

#include "base/text.h"

namespace memoir {
namespace {

constexpr std::uint32_t kFacilityBits = 3;  // number of low bits for the level, below the facility

}  // namespace

Result<LogRecord> parse_log_record(std::string_view text) {
  std::string_view line = cut_line(text);
  const std::size_t head_size = line.find(';');
  if (head_size == std::string_view::npos) return malformed("a record of the kernel's log has no ';'");
  std::string_view head = line.substr(0, head_size);
  const auto priority = parse_number<std::uint32_t>(cut(head, ','));
  const auto sequence = parse_number<std::uint64_t>(cut(head, ','));
  const auto boot_us = parse_number<std::int64_t>(cut(head, ','));
  // Newer kernels may add fields after the flags.
  const std::string_view flags = cut(head, ',');
  if (!priority || !sequence || !boot_us || *boot_us < 0) {
    return malformed("a record of the kernel's log does not begin with three numbers");
  }
  return LogRecord{.kernel = *priority >> kFacilityBits == 0,
                   .sequence = *sequence,
                   .boot_us = *boot_us,
                   .fragment = flags == "c" || flags == "+",
                   .message = line.substr(head_size + 1)};
}

std::string unescape_log(std::string_view message) {
  std::string bytes;
  bytes.reserve(message.size());
  while (!message.empty()) {
    const bool escape = message.starts_with("\\x") && message.size() >= 4;
    const auto byte = escape ? parse_number<unsigned char>(message.substr(2, 2), 16) : std::nullopt;
    bytes += byte ? static_cast<char>(*byte) : message.front();
    message.remove_prefix(byte ? 4 : 1);
  }
  return bytes;
}

}  // namespace memoir
