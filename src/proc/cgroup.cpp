#include "proc/cgroup.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// 0 is best.
enum Rank : unsigned { kMemory, kUnified, kSystemd, kNone };

Rank rank_of(std::string_view id, std::string_view controllers) {
  if (id == "0" && controllers.empty()) return kUnified;
  if (controllers == "name=systemd") return kSystemd;
  while (!controllers.empty()) {
    if (cut(controllers, ',') == "memory") return kMemory;
  }
  return kNone;
}

}  // namespace

Result<std::string_view> parse_cgroup(std::string_view text) {
  if (text.empty()) return Error{ErrorKind::gone, "cgroup: empty, the process is gone"};
  std::string_view best_path;
  Rank best = kNone;
  KeyLine line;
  while (next_line(text, ':', line)) {
    std::string_view path = line.value;
    const Rank rank = rank_of(line.key, cut(path, ':'));
    if (rank >= best) continue;
    if (line.torn || !path.starts_with('/')) return bad_line("cgroup", line.text);
    best = rank;
    best_path = path;
  }
  if (best == kNone) return nothing_known("cgroup");
  return best_path;
}

}  // namespace memoir
