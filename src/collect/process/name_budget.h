#pragma once

// Limits the new text of each user in the store: command lines, program paths, folders, cgroups. The store keeps such
// text as long as any tick refers to it. Without a limit, a user with ever new names could fill the file and make other
// users' ticks expire. Each user may fill a small part of the file per day, also at once. All users together may fill
// eight times that part. A name costs the size of its rows in the file. Recently used text is free.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/identity.h"
#include "model/known_name.h"
#include "model/process.h"

namespace memoir {

// Suffix of a program's path in place of a command line that exceeded the budget.
inline constexpr const char* kCommandLeftOut = " …[left out: too many new command lines]";

class NameBudget {
 public:
  // `store_bytes` is the maximum size of the file; 0 counts as 2 GiB.
  explicit NameBudget(std::int64_t store_bytes);
  // Changes the budgets. Earlier charges still count.
  void resize(std::int64_t store_bytes);

  // Charges a name that an earlier run stored at `boot_ms`. Call it before everything else, for the oldest name first.
  void seed(const KnownName& name, std::int64_t boot_ms);

  // Truncates `info` to the user's budget. Returns whether it is still complete. `before` has the values last stored
  // for the process.
  bool fit(ProcessInfo& info, const ProcessInfo& before, std::int64_t boot_ms);
  // Returns a cgroup's path if it fits; otherwise a replacement below the nearest known ancestor, as in
  // cgroup_beneath().
  std::string fit_cgroup(std::uint32_t uid, std::string path, std::int64_t boot_ms);
  // Returns whether a name that is not part of a ProcessInfo fits, such as a mapping's label, and charges it.
  bool fit(std::uint32_t uid, std::string_view name, std::int64_t boot_ms);
  // Returns whether this many bytes of new text fit, and charges them.
  bool take(std::uint32_t uid, std::size_t bytes, std::int64_t boot_ms);

 private:
  struct Allowance {
    double bytes = 0;
    std::int64_t at_ms = 0;
  };

  bool take(std::uint32_t uid, std::size_t bytes, std::int64_t boot_ms, double reserve);
  std::size_t bytes_if_new(const Identity& identity) const;
  void leave_out(ProcessInfo& info, std::int64_t boot_ms);
  void fit_settings(std::uint32_t uid, ProcessSettings& settings, std::int64_t boot_ms);
  bool has(Allowance& allowance, double most, double bytes, std::int64_t boot_ms) const;
  bool is_known(std::size_t name) const { return known_.contains(name) || older_.contains(name); }
  void remember(std::size_t name);

  double most_;  // bytes that a user may add per day
  std::unordered_map<std::uint32_t, Allowance> users_;
  Allowance all_;
  // Hashes of the names in use, in two generations: a name that is used again moves to the new one, and a user's many
  // new names displace only names that are no longer used.
  std::unordered_set<std::size_t> known_;
  std::unordered_set<std::size_t> older_;
};

}  // namespace memoir
