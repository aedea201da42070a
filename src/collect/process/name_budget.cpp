#include "collect/process/name_budget.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/heap_bytes.h"
#include "model/cgroup.h"

namespace memoir {
namespace {

constexpr std::int64_t kUsualBytes = 2LL << 30;
constexpr std::int64_t kShare = 128;  // each user may fill 1/kShare of the file per day
constexpr std::int64_t kMinBytes = 128 * 1024;
constexpr std::int64_t kMaxBytes = 16LL * 1024 * 1024;
constexpr double kDayMs = 86'400'000;
constexpr double kUsersAtOnce = 8;
constexpr std::size_t kKnown = 32768;
// Cost of a new name in addition to its texts: rows in the tables of processes, commands and identities, their indexes,
// samples and rollups. It also limits the number of names.
constexpr std::size_t kRowBytes = 1024;
constexpr std::size_t kIdentityBytes = 160;  // maximum length of a command within an identity
constexpr std::size_t kUsers = 1024;

// Hash of a text. `kind` distinguishes equal texts of different kinds.
std::size_t hash_of(char kind, std::string_view text) {
  return std::hash<std::string>{}(kind + std::string(text));
}

std::size_t name_of(const ProcessInfo& info) {
  return std::hash<std::string>{}(info.exe + '\0' + info.command + '\0' + info.cwd);
}

double most_of(std::int64_t store_bytes) {
  return static_cast<double>(std::clamp((store_bytes == 0 ? kUsualBytes : store_bytes) / kShare, kMinBytes, kMaxBytes));
}

}  // namespace

NameBudget::NameBudget(std::int64_t store_bytes) : most_(most_of(store_bytes)), all_{most_ * kUsersAtOnce, 0} {}

void NameBudget::resize(std::int64_t store_bytes) {
  const double more = most_of(store_bytes) - most_;
  const auto grow = [](Allowance& allowance, double by) { allowance.bytes = std::max(0.0, allowance.bytes + by); };
  most_ += more;
  grow(all_, more * kUsersAtOnce);
  for (auto& [uid, own] : users_) grow(own, more);
}

void NameBudget::seed(const KnownName& name, std::int64_t boot_ms) {
  all_.at_ms = std::min(all_.at_ms, boot_ms);
  ProcessInfo info;
  info.uid = name.uid;
  info.exe = name.exe;
  info.command = name.command;
  info.cwd = name.cwd;
  info.cgroup = name.cgroup;
  const std::size_t stored = name_of(info);
  // The file contains the name, so it is known even if it exceeds the budget.
  if (!fit(info, {}, boot_ms)) remember(stored);
}

bool NameBudget::fit(ProcessInfo& info, const ProcessInfo& before, std::int64_t boot_ms) {
  if (info.cgroup != before.cgroup) info.cgroup = fit_cgroup(info.uid, std::move(info.cgroup), boot_ms);
  // A process may change its settings continuously, too.
  for (const auto member : {&ProcessSettings::cwd, &ProcessSettings::limits}) {
    std::string& text = info.settings.*member;
    if (text != before.settings.*member && text != info.cwd && !fit(info.uid, text, boot_ms)) release_memory(text);
  }
  const bool same = info.exe == before.exe && info.command == before.command && info.cwd == before.cwd;
  const std::size_t name = name_of(info);
  if (same || known_.contains(name)) return true;
  const std::size_t program = hash_of('x', info.exe);
  const std::size_t folder = hash_of('d', info.cwd);
  // Texts with a unique index count twice, because the index stores them again.
  const std::size_t in_command = info.exe.size() + info.command.size();
  const std::size_t in_identity = info.exe.size() + std::min(info.command.size(), kIdentityBytes) + info.cgroup.size();
  const std::size_t in_folder = known_.contains(folder) ? 0 : info.cwd.size();
  if (take(info.uid, kRowBytes + in_command + 2 * (in_identity + in_folder), boot_ms)) {
    remember(name);
    remember(program);
    remember(folder);
    return true;
  }
  // The path and the name of a program may be new each time, so they are removed too.
  if (!known_.contains(program)) release_memory(info.exe);
  info.command = (info.exe.empty() ? "[other of " + info.user + ']' : info.exe) + kCommandLeftOut;
  release_memory(info.cwd);
  return false;
}

std::string NameBudget::fit_cgroup(std::uint32_t uid, std::string path, std::int64_t boot_ms) {
  if (path.empty() || known_.contains(hash_of('c', path))) return path;
  if (take(uid, kRowBytes + 2 * path.size(), boot_ms)) {
    remember(hash_of('c', path));
    return path;
  }
  std::string_view above = cgroup_above(path);
  while (above.size() > 1 && !known_.contains(hash_of('c', above))) above = cgroup_above(above);
  return cgroup_beneath(above);
}

bool NameBudget::fit(std::uint32_t uid, std::string_view name, std::int64_t boot_ms) {
  const std::size_t hash = std::hash<std::string_view>{}(name);
  if (known_.contains(hash)) return true;
  if (!take(uid, name.size(), boot_ms)) return false;
  remember(hash);
  return true;
}

bool NameBudget::take(std::uint32_t uid, std::size_t bytes, std::int64_t boot_ms) {
  if (users_.size() >= kUsers && !users_.contains(uid)) {
    std::erase_if(users_, [&](const auto& user) {
      Allowance allowance = user.second;
      return has(allowance, most_, most_, boot_ms);
    });
  }
  Allowance& own = users_.try_emplace(uid, Allowance{most_, boot_ms}).first->second;
  const auto need = static_cast<double>(bytes);
  if (!has(own, most_, need, boot_ms) || !has(all_, most_ * kUsersAtOnce, need, boot_ms)) return false;
  own.bytes -= need;
  all_.bytes -= need;
  return true;
}

// Returns whether an allowance has this many bytes. Refills it for the time since its last use first.
bool NameBudget::has(Allowance& allowance, double most, double bytes, std::int64_t boot_ms) const {
  allowance.bytes = std::min(most, allowance.bytes + most * static_cast<double>(boot_ms - allowance.at_ms) / kDayMs);
  allowance.at_ms = boot_ms;
  return allowance.bytes >= bytes;
}

void NameBudget::remember(std::size_t name) {
  if (known_.size() >= kKnown) known_.clear();
  known_.insert(name);
}

}  // namespace memoir
