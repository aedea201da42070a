#include "collect/process/name_budget.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/digest.h"
#include "base/heap_bytes.h"
#include "model/cgroup.h"
#include "model/identity.h"

namespace memoir {
namespace {

constexpr std::int64_t kUsualBytes = 2LL << 30;
constexpr std::int64_t kShare = 128;  // each user may fill 1/kShare of the file per day
constexpr std::int64_t kMinBytes = 128 * 1024;
constexpr std::int64_t kMaxBytes = 16LL * 1024 * 1024;
constexpr double kDayMs = 86'400'000;
constexpr double kUsersAtOnce = 8;
constexpr std::size_t kKnown = 16384;  // maximum number of names per generation
// Cost of a new name in addition to its texts: rows in the tables of processes, commands and identities, their indexes,
// samples and rollups. It also limits the number of names.
constexpr std::size_t kRowBytes = 1024;
constexpr std::size_t kSettingBytes = 64;
// Part of a user's budget that is reserved for programs whose command lines exceed the rest.
constexpr double kReserve = 1.0 / 8;
constexpr std::size_t kUsers = 1024;

// Returns a hash of a text. `kind` distinguishes equal texts of different kinds. std::hash is unsuitable, because users
// could choose new names with the hash of a known one.
std::size_t hash_of(char kind, std::string_view text) {
  return static_cast<std::size_t>(digest_of(kind + std::string(text)));
}

std::size_t name_of(const ProcessInfo& info) {
  return hash_of('n', info.exe + '\0' + info.command + '\0' + info.cwd);
}

std::size_t hash_of(const Identity& identity) {
  return hash_of('i', identity.unit + '\0' + identity.exe + '\0' + identity.command);
}

std::size_t hash_of(const ProcessSettings& settings) {
  const std::string adjust = settings.oom_score_adj ? std::to_string(*settings.oom_score_adj) : "";
  return hash_of('s', settings.cwd + '\0' + adjust + '\0' + settings.limits + '\0' + settings.category_rule);
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
  if (info.settings != before.settings) fit_settings(info.uid, info.settings, boot_ms);
  const bool same = info.exe == before.exe && info.command == before.command && info.cwd == before.cwd &&
                    info.cgroup == before.cgroup;
  if (same) return true;
  const std::size_t name = name_of(info);
  const std::size_t program = hash_of('x', info.exe);
  const std::size_t folder = hash_of('d', info.cwd);
  // A known command in a known cgroup may still be a new identity.
  const Identity identity = identity_of(info);
  // Texts with a unique index count twice, because the index stores them again.
  const std::size_t in_folder = is_known(folder) ? 0 : info.cwd.size();
  const std::size_t in_name = is_known(name) ? 0 : info.exe.size() + info.command.size() + 2 * in_folder;
  const std::size_t in_identity = bytes_if_new(identity);
  const std::size_t bytes = in_name + in_identity;
  if (bytes == 0 || take(info.uid, kRowBytes + bytes, boot_ms)) {
    for (const std::size_t known : {name, program, folder, hash_of(identity)}) remember(known);
    return true;
  }
  leave_out(info, boot_ms);
  return false;
}

std::size_t NameBudget::bytes_if_new(const Identity& identity) const {
  if (is_known(hash_of(identity))) return 0;
  return 2 * (identity.unit.size() + identity.exe.size() + identity.command.size()) + 1;
}

// Removes the command and the folder. Also removes the program if its path is new, or if its identity exceeds the
// budget.
void NameBudget::leave_out(ProcessInfo& info, std::int64_t boot_ms) {
  const auto set_command = [&info](const std::string& program) { info.command = program + kCommandLeftOut; };
  release_memory(info.cwd);
  set_command(info.exe);
  if (!info.exe.empty() && is_known(hash_of('x', info.exe))) {
    const Identity identity = identity_of(info);
    const std::size_t bytes = bytes_if_new(identity);
    if (bytes == 0 || take(info.uid, kRowBytes + bytes, boot_ms, 0)) return remember(hash_of(identity));
  }
  release_memory(info.exe);
  set_command("[other of " + info.user + ']');
}

// Each combination of settings is a row in the store, and a process can change its settings continuously.
void NameBudget::fit_settings(std::uint32_t uid, ProcessSettings& settings, std::int64_t boot_ms) {
  const std::size_t hash = hash_of(settings);
  if (is_known(hash)) return remember(hash);
  const std::size_t texts = settings.cwd.size() + settings.limits.size() + settings.category_rule.size();
  if (take(uid, kSettingBytes + 2 * texts, boot_ms)) return remember(hash);
  release_memory(settings.cwd);
  release_memory(settings.limits);  // the remaining settings have few combinations
}

std::string NameBudget::fit_cgroup(std::uint32_t uid, std::string path, std::int64_t boot_ms) {
  if (path.empty()) return path;
  const std::size_t hash = hash_of('c', path);
  if (is_known(hash) || take(uid, kRowBytes + 2 * path.size(), boot_ms)) {
    remember(hash);
    return path;
  }
  std::string_view above = cgroup_above(path);
  while (above.size() > 1 && !is_known(hash_of('c', above))) above = cgroup_above(above);
  return cgroup_beneath(above);
}

bool NameBudget::fit(std::uint32_t uid, std::string_view name, std::int64_t boot_ms) {
  const std::size_t hash = hash_of('o', name);
  if (!is_known(hash) && !take(uid, name.size(), boot_ms)) return false;
  remember(hash);
  return true;
}

bool NameBudget::take(std::uint32_t uid, std::size_t bytes, std::int64_t boot_ms) {
  return take(uid, bytes, boot_ms, kReserve);
}

bool NameBudget::take(std::uint32_t uid, std::size_t bytes, std::int64_t boot_ms, double reserve) {
  if (users_.size() >= kUsers && !users_.contains(uid)) {
    std::erase_if(users_, [&](const auto& user) {
      Allowance allowance = user.second;
      return has(allowance, most_, most_, boot_ms);
    });
  }
  Allowance& own = users_.try_emplace(uid, Allowance{most_, boot_ms}).first->second;
  const auto need = static_cast<double>(bytes);
  // Names of other users do not use up root's budget, and root's names do not use up theirs.
  Allowance* const all = uid == 0 ? nullptr : &all_;
  if (!has(own, most_, need + most_ * reserve, boot_ms)) return false;
  if (all != nullptr && !has(*all, most_ * kUsersAtOnce, need, boot_ms)) return false;
  own.bytes -= need;
  if (all != nullptr) all->bytes -= need;
  return true;
}

// Returns whether an allowance has this many bytes. Refills it for the time since its last use first.
bool NameBudget::has(Allowance& allowance, double most, double bytes, std::int64_t boot_ms) const {
  allowance.bytes = std::min(most, allowance.bytes + most * static_cast<double>(boot_ms - allowance.at_ms) / kDayMs);
  allowance.at_ms = boot_ms;
  return allowance.bytes >= bytes;
}

void NameBudget::remember(std::size_t name) {
  if (known_.size() >= kKnown) older_ = std::exchange(known_, {});
  known_.insert(name);
}

}  // namespace memoir
