#include "collect/pss/read_request.h"

#include <algorithm>
#include <numeric>

namespace memoir {

double turn_urgency(std::int64_t overdue_ms, std::int64_t pace_ms) {
  return kDoublings * (1 + static_cast<double>(overdue_ms) / static_cast<double>(pace_ms));
}

std::vector<std::size_t> grant_requests(std::span<const ReadRequest> claims, std::int64_t& allowance_us) {
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return claims[a].urgency > claims[b].urgency; });
  auto end = order.begin();
  for (; end != order.end() && allowance_us > 0; ++end) allowance_us -= claims[*end].cost_us;
  order.erase(end, order.end());
  return order;
}

}  // namespace memoir
