#include "analysis/peaks.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace memoir {

std::vector<Mark> rank_marks(std::span<const Mark> marks, Extreme extreme) {
  const auto before = [extreme](const Mark& a, const Mark& b) {
    if (a.value_kib != b.value_kib) return (a.value_kib > b.value_kib) == (extreme == Extreme::highest);
    return std::tie(a.at_ms, a.subject) < std::tie(b.at_ms, b.subject);
  };
  std::unordered_map<std::int64_t, Mark> best;
  for (const Mark& mark : marks) {
    const auto [held, added] = best.try_emplace(mark.subject, mark);
    if (!added && before(mark, held->second)) held->second = mark;
  }
  std::vector<Mark> ranked;
  ranked.reserve(best.size());
  for (const auto& [subject, mark] : best) ranked.push_back(mark);
  std::ranges::sort(ranked, before);
  return ranked;
}

std::optional<double> mark_ratio(std::int64_t mark_kib, std::optional<std::int64_t> now_kib) {
  if (now_kib.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(mark_kib) / static_cast<double>(*now_kib);
}

}  // namespace memoir
