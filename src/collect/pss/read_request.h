#pragma once

// Orders all rotating reads by urgency and grants them from one CPU budget (cpu_budget.h). They are the smaps_rollup of
// processes, smaps for mapping summaries, walks of tmpfs mounts, and complete readings of cgroups. Urgency grows with
// waiting time, so no read starves. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace memoir {

enum class RequestKind : std::uint8_t { rollup, summary, walk, cgroups, count_ };

struct ReadRequest {
  RequestKind kind = RequestKind::rollup;
  std::int64_t cost_us = 0;  // expected CPU time
  double urgency = 0;        // an increase by 1 means twice as urgent
};

// Number of times that the urgency doubles until a read reaches its maximum age.
inline constexpr double kDoublings = 4;

// Returns the urgency of a read that has been due for `overdue_ms` and is repeated every `pace_ms`. A read that has
// just become due is as urgent as the rollup read of an unchanged process whose last reading has reached its maximum
// age.
double turn_urgency(std::int64_t overdue_ms, std::int64_t pace_ms);

// Returns the indices of the granted requests, the most urgent first, ties in the given order. One more request is
// granted while any budget is left. Subtracts the costs from the budget.
std::vector<std::size_t> grant_requests(std::span<const ReadRequest> claims, std::int64_t& allowance_us);

// Number of granted requests of each kind. It is unlimited if budget is left over.
class Grants {
 public:
  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

  void add(RequestKind kind) { ++counts_.at(static_cast<std::size_t>(kind)); }
  void set_any() { any_ = true; }
  std::size_t count(RequestKind kind) const { return any_ ? kAny : counts_.at(static_cast<std::size_t>(kind)); }

 private:
  std::array<std::size_t, static_cast<std::size_t>(RequestKind::count_)> counts_{};
  bool any_ = false;
};

}  // namespace memoir
