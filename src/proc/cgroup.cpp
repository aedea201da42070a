#include "proc/cgroup.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// Kinds of hierarchies, the preferred one first.
enum Rank : unsigned { kMemory, kUnified, kSystemd, kNone };

Rank rank_of(std::string_view id, std::string_view controllers) {
  if (id == "0" && controllers.empty()) return kUnified;
  if (controllers == "name=systemd") return kSystemd;
  while (!controllers.empty()) {
    if (cut(controllers, ',') == "memory") return kMemory;
  }
  return kNone;
}

// Returns whether the cgroup at `path` is below the one at `above`.
bool is_below(std::string_view path, std::string_view above) {
  if (above == "/") return path.size() > 1;
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
}

}  // namespace

Result<std::string_view> parse_cgroup(std::string_view text, OddLines* odd) {
  if (text.empty()) return Error{ErrorKind::not_found, "cgroup: empty, the process has exited"};
  std::string_view best_path;
  std::string_view unit_path;  // path in the hierarchies in which systemd creates units
  Rank best = kNone;
  KeyLine line;
  while (next_line(text, ':', line)) {
    std::string_view path = line.value;
    const Rank rank = rank_of(line.key, cut(path, ':'));
    if (rank == kNone) continue;
    if (line.torn || !path.starts_with('/')) {
      if (odd != nullptr) odd->note("cgroup", line.key, line.text);
      continue;
    }
    if (rank != kMemory && path.size() > unit_path.size()) unit_path = path;
    if (rank >= best) continue;
    best = rank;
    best_path = path;
  }
  if (best == kNone) return nothing_known("cgroup");
  return is_below(unit_path, best_path) ? unit_path : best_path;
}

}  // namespace memoir
