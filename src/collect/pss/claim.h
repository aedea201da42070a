#pragma once

// All that the recorder reads in turn, and not at each tick, claims a part of one allowance (allowance.h): the
// smaps_rollup of processes, the smaps for ledgers of mappings, walks of tmpfs mounts, whole readings of cgroups. They
// are paid in one order, that of urgency, which grows with the time that something waits: so whatever is due all the
// time, nothing else waits forever. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace memoir {

enum class ClaimKind : std::uint8_t { rollup, ledger, walk, cgroups, count_ };

struct Claim {
  ClaimKind kind = ClaimKind::rollup;
  std::int64_t cost_us = 0;  // of CPU, as expected
  double urgency = 0;        // that of another twice as urgent is greater by 1
};

// For each time that what is read in turn may be old it becomes so many times twice as urgent.
inline constexpr double kDoublings = 4;

// Of what is due for so long, and has a turn at each `pace_ms`. As it falls due it is as urgent as the reading of a
// process that did not move and is as old as it may be.
double turn_urgency(std::int64_t overdue_ms, std::int64_t pace_ms);

// The claims to be paid, the most urgent first; those of one urgency as they come. As long as any of the allowance is
// left, another is paid.
std::vector<std::size_t> pay(std::span<const Claim> claims, std::int64_t& allowance_us);

// How many of each kind were paid. Where some of the allowance is left, nobody has to ask.
class Granted {
 public:
  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

  void add(ClaimKind kind) { ++counts_.at(static_cast<std::size_t>(kind)); }
  void set_any() { any_ = true; }
  std::size_t count(ClaimKind kind) const { return any_ ? kAny : counts_.at(static_cast<std::size_t>(kind)); }

 private:
  std::array<std::size_t, static_cast<std::size_t>(ClaimKind::count_)> counts_{};
  bool any_ = false;
};

}  // namespace memoir
