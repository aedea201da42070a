#include "collect/process/name_budget.h"

#include <algorithm>
#include <functional>
#include <string>

namespace memoir {
namespace {

constexpr std::int64_t kUsualBytes = 2LL << 30;
constexpr std::int64_t kShare = 128;  // one of so many parts of the file
constexpr std::int64_t kLeastBytes = 128 * 1024;
constexpr std::int64_t kMostBytes = 16LL * 1024 * 1024;
constexpr double kDayMs = 86'400'000;
constexpr double kUsersAtOnce = 8;
constexpr std::size_t kKnown = 8192;
constexpr std::size_t kUsers = 1024;

std::size_t name_of(const ProcessInfo& info) {
  return std::hash<std::string>{}(info.exe + '\0' + info.command + '\0' + info.cwd);
}

double most_of(std::int64_t store_bytes) {
  return static_cast<double>(
      std::clamp((store_bytes == 0 ? kUsualBytes : store_bytes) / kShare, kLeastBytes, kMostBytes));
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

bool NameBudget::fit(ProcessInfo& info, const ProcessInfo& before, std::int64_t boot_ms) {
  const bool same = info.exe == before.exe && info.command == before.command && info.cwd == before.cwd;
  const std::size_t name = name_of(info);
  if (same || known_.contains(name)) return true;
  const std::size_t program = std::hash<std::string>{}(info.exe);
  if (take(info.uid, info.exe.size() + info.command.size() + info.cwd.size(), boot_ms)) {
    remember(name);
    remember(program);
    return true;
  }
  // The path of a program may be another each time, too.
  if (!known_.contains(program)) info.exe.clear();
  info.command = (info.exe.empty() ? '[' + info.comm + ']' : info.exe) + kCommandLeftOut;
  info.cwd.clear();
  return false;
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

// After what has come into it since.
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
