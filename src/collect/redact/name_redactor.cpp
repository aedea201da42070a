#include "collect/redact/name_redactor.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/identity.h"

namespace memoir {
namespace {

// Returns the end of a name that is not redacted, although a secret counts as the remainder of its component. It is the
// suffix of a unit, such as ".service", or the mark of a deleted file.
std::string_view kept_suffix(std::string_view name) {
  if (const std::string_view unit = unit_suffix(name); !unit.empty()) return unit;
  for (const std::string_view other : {std::string_view(".slice"), kDeletedMark}) {
    if (name.ends_with(other)) return other;
  }
  return {};
}

// Undoes the escapes of systemd-escape(1), which units need for most characters.
std::string unescaped(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    unsigned byte = 0;
    const char* const digits = name.data() + 2;
    if (name.size() >= 4 && name.starts_with("\\x") &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      name.remove_prefix(4);
    } else {
      out += name.front();
      name.remove_prefix(1);
    }
  }
  return out;
}

// Returns whether the name cannot have a secret. Such names have the id of a container, or ':' and '@' without a
// password: a unit that D-Bus started ("dbus-:1.2-org.example@0.service"), or an image ("redis:7@sha256:…").
bool is_harmless(std::string_view name) {
  if (name.find('=') != std::string_view::npos) return false;
  if (name.find('@') != std::string_view::npos && name.find(':') != std::string_view::npos) return true;
  constexpr std::size_t id_digits = 64;
  std::size_t digits = 0;
  return std::ranges::any_of(name, [&digits](char c) {
    const bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    digits = is_hex ? digits + 1 : 0;
    return digits == id_digits;
  });
}

// Numbers all but the first of equal names.
template <typename Row>
void make_distinct(std::vector<Row>& rows, std::string Row::*name) {
  std::set<std::string> taken;
  for (Row& row : rows) {
    const std::string base = row.*name;
    for (int number = 2; !taken.insert(row.*name).second; ++number) row.*name = fmt::format("{} ({})", base, number);
  }
}

}  // namespace

std::string NameRedactor::redacted(const std::string& name) const {
  if (name.find("[redacted]") != std::string::npos) return name;
  std::string_view stem = name;
  const std::string_view suffix = kept_suffix(name);
  stem.remove_suffix(suffix.size());
  const std::string text = unescaped(stem);
  if (is_harmless(text)) return name;
  const auto replaced = [&](std::string_view head, const std::string& tail) -> std::string {
    const std::string out = redactor_.text(tail);
    return out == to_utf8(tail) ? "" : fmt::format("{}{}{}", head, out, suffix);
  };
  std::string out = replaced("", text);
  // The instance name of a template unit may be a secret of its own.
  const std::size_t at = text.find('@');
  if (out.empty() && at != std::string::npos) out = replaced(text.substr(0, at + 1), text.substr(at + 1));
  return out.empty() ? name : out;
}

std::string NameRedactor::component(const std::string& name) {
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second;
  searched_bytes_ += name.size();
  if (searched_bytes_ > kMaxSearchedBytes) {
    const std::string text = unescaped(name);
    const std::size_t equals = text.find('=');
    return equals == std::string::npos ? name : text.substr(0, equals + 1) + "[redacted]";
  }
  if (known_.size() >= kMaxKnown) known_.clear();
  return known_.emplace(name, redacted(name)).first->second;
}

std::string NameRedactor::path(std::string_view path) {
  const std::scoped_lock lock(mutex_);
  std::string out;
  while (true) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) out += component(std::string(path.substr(0, slash)));
    if (slash == path.size()) return out;
    out += '/';
    path.remove_prefix(slash + 1);
  }
}

void NameRedactor::redact(Tick& tick) {
  {
    const std::scoped_lock lock(mutex_);
    searched_bytes_ = 0;
  }
  // Names of processes were redacted when they were read. This redacts the cgroups of processes that exited before
  // that.
  for (ProcessInfo& info : tick.born) info.cgroup = path(info.cgroup);
  for (ExitSum& sum : tick.exit_sums) sum.cgroup = path(sum.cgroup);
  for (OomVictim& victim : tick.oom_victims) {
    victim.cgroup = path(victim.cgroup);
    if (victim.detail) victim.detail->limit_cgroup = path(victim.detail->limit_cgroup);
  }
  for (CgroupContainer& of : tick.containers) {
    for (std::string* const name : {&of.container.name, &of.container.pod, &of.container.image}) *name = path(*name);
  }
  for (ProcessMappings& of : tick.summaries) {
    bool changed = false;
    for (MappingRow& row : of.summary.rows) {
      std::string label = path(row.name.label);
      changed |= label != row.name.label;
      row.name.label = std::move(label);
    }
    if (!changed) continue;
    of.summary.rows = merged(std::move(of.summary.rows));
    std::ranges::sort(of.summary.rows, ranks_before);
  }
  if (!tick.tmpfs) return;
  for (TmpfsSample& mount : *tick.tmpfs) {
    mount.mount_point = path(mount.mount_point);
    mount.source = path(mount.source);
    bool changed = false;
    for (TmpfsEntry& entry : mount.largest) {
      std::string redacted = path(entry.path);
      changed |= redacted != entry.path;
      entry.path = std::move(redacted);
    }
    if (!changed) continue;
    make_distinct(mount.largest, &TmpfsEntry::path);
    std::ranges::sort(mount.largest, [](const TmpfsEntry& a, const TmpfsEntry& b) {
      return std::pair(std::string_view(a.path), a.directory) < std::pair(std::string_view(b.path), b.directory);
    });
  }
  make_distinct(*tick.tmpfs, &TmpfsSample::mount_point);
  std::ranges::sort(*tick.tmpfs, {}, &TmpfsSample::mount_point);
}

}  // namespace memoir
