#pragma once

// Limits the new text of each user in the store: command lines, program paths, folders, cgroups. They are kept as long
// as any tick refers to them. Without a limit, one user's ever new names would fill the file and expire other users'
// ticks. Each user may fill a small part of the file per day, even at once; all users together eight times that. A name
// costs the size of its rows in the file. Recently used text is free.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/known_name.h"
#include "model/process.h"

namespace memoir {

// Suffix of a program if its command line exceeded the budget.
inline constexpr const char* kCommandLeftOut = " …[left out: too many new command lines]";

class NameBudget {
 public:
  // `store_bytes`: maximum size of the file; 0 counts as 2 GiB.
  explicit NameBudget(std::int64_t store_bytes);
  // Keeps the charges so far.
  void resize(std::int64_t store_bytes);

  // Charges a name that an earlier run stored then; call it for the oldest first, before everything else.
  void seed(const KnownName& name, std::int64_t boot_ms);

  // Limits `info` to the user's budget. Returns whether it is complete. `before`: the values last stored for the
  // process.
  bool fit(ProcessInfo& info, const ProcessInfo& before, std::int64_t boot_ms);
  // Returns a cgroup's path; beyond the budget the nearest known ancestor, as in cgroup_beneath().
  std::string fit_cgroup(std::uint32_t uid, std::string path, std::int64_t boot_ms);
  // Returns whether a name of another kind fits.
  bool fit(std::uint32_t uid, std::string_view name, std::int64_t boot_ms);
  // Returns whether the new text fits, and charges it.
  bool take(std::uint32_t uid, std::size_t bytes, std::int64_t boot_ms);

 private:
  struct Allowance {
    double bytes = 0;
    std::int64_t at_ms = 0;
  };

  bool has(Allowance& allowance, double most, double bytes, std::int64_t boot_ms) const;
  void remember(std::size_t name);

  double most_;  // of a user per day
  std::unordered_map<std::uint32_t, Allowance> users_;
  Allowance all_;
  std::unordered_set<std::size_t> known_;
};

}  // namespace memoir
