#pragma once

// How much new text of one user is handed to the store: command lines, paths of programs, folders. They are kept for as
// long as any tick tells of them, so that who changes them all the time would fill the file, and others' ticks would go
// for it. Each user may fill a small part of the file in a day, and that at once; all users together some times that.
// What was handed out lately costs nothing.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/process.h"

namespace memoir {

// Stands after the name of a program whose command line was one too many.
inline constexpr const char* kCommandLeftOut = " …[left out: too many new command lines]";

class NameBudget {
 public:
  // `store_bytes`: how large the file may get; 0: as if it were 2 GiB.
  explicit NameBudget(std::int64_t store_bytes);
  // What was handed out counts on.
  void resize(std::int64_t store_bytes);

  // What `info` may be told as, and whether that is all of it. `before`: what was told of the process last.
  bool fit(ProcessInfo& info, const ProcessInfo& before, std::int64_t boot_ms);
  // Whether a name of another kind may be told.
  bool fit(std::uint32_t uid, std::string_view name, std::int64_t boot_ms);
  // Whether so much new text may be told; it counts then.
  bool take(std::uint32_t uid, std::size_t bytes, std::int64_t boot_ms);

 private:
  struct Allowance {
    double bytes = 0;
    std::int64_t at_ms = 0;
  };

  bool has(Allowance& allowance, double most, double bytes, std::int64_t boot_ms) const;
  void remember(std::size_t name);

  double most_;  // of a user in a day
  std::unordered_map<std::uint32_t, Allowance> users_;
  Allowance all_;
  std::unordered_set<std::size_t> known_;
};

}  // namespace memoir
