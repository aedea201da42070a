#include "proc/cgroup_memory.h"

#include <array>
#include <limits>
#include <string>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::int64_t kBytesPerKib = 1024;
// v1 says "no limit" by LONG_MAX rounded down to whole pages, which have at most 64 KiB.
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() - 64 * kBytesPerKib;

struct FileLists {
  std::array<std::string_view, 2> keys;
  std::array<std::optional<std::int64_t>, 2> bytes{};

  bool complete() const { return bytes[0] && bytes[1]; }
};

// The line of a file that holds one value; nothing where it is torn.
std::optional<std::string_view> only_line(std::string_view text) {
  KeyLine line;
  if (!next_line(text, '\n', line) || line.torn || !text.empty()) return std::nullopt;
  return line.text;
}

Error gone() {
  return {ErrorKind::gone, "cgroup: empty, the cgroup is gone"};
}

}  // namespace

Result<std::optional<std::int64_t>> parse_cgroup_limit(std::string_view text) {
  if (text.empty()) return gone();
  if (only_line(text) == "max") return std::optional<std::int64_t>();
  const auto kib = TRY(parse_cgroup_usage(text));
  return kib >= kNoLimit / kBytesPerKib ? std::optional<std::int64_t>() : std::optional(kib);
}

Result<std::int64_t> parse_cgroup_usage(std::string_view text) {
  if (text.empty()) return gone();
  const auto line = only_line(text);
  const auto bytes = line ? parse_natural(*line) : std::nullopt;
  if (!bytes) return bad_line("a cgroup's memory", text.substr(0, text.find('\n')));
  return *bytes / kBytesPerKib;
}

Result<std::int64_t> parse_cgroup_file_cache(std::string_view text) {
  if (text.empty()) return gone();
  FileLists own{{"active_file", "inactive_file"}};
  FileLists total{{"total_active_file", "total_inactive_file"}};
  KeyLine line;
  while (next_line(text, ' ', line)) {
    for (FileLists* lists : {&own, &total}) {
      for (std::size_t i = 0; i < lists->keys.size(); ++i) {
        if (line.key != lists->keys[i]) continue;
        lists->bytes[i] = line.count();
        if (!lists->bytes[i]) return bad_line("memory.stat", line.text);
      }
    }
  }
  const FileLists& lists = total.complete() ? total : own;
  if (!lists.complete()) return nothing_known("memory.stat");
  return *lists.bytes[0] / kBytesPerKib + *lists.bytes[1] / kBytesPerKib;
}

Result<std::optional<std::int64_t>> parse_cgroup_oom_kills(std::string_view text) {
  if (text.empty()) return gone();
  KeyLine line;
  while (next_line(text, ' ', line)) {
    if (line.key != "oom_kill") continue;
    const auto count = line.count();
    if (!count) return bad_line("a cgroup's events", line.text);
    return std::optional(*count);
  }
  return std::optional<std::int64_t>();
}

}  // namespace memoir
