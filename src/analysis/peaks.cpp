#include "analysis/peaks.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/transformed.h"

namespace memoir {

std::vector<Peak> rank_peaks(std::span<const Peak> peaks, Extreme extreme) {
  const auto before = [extreme](const Peak& a, const Peak& b) {
    if (a.value_kib != b.value_kib) return (a.value_kib > b.value_kib) == (extreme == Extreme::highest);
    return std::tie(a.at_ms, a.subject) < std::tie(b.at_ms, b.subject);
  };
  std::unordered_map<std::int64_t, Peak> best;
  for (const Peak& peak : peaks) {
    const auto [held, added] = best.try_emplace(peak.subject, peak);
    if (!added && before(peak, held->second)) held->second = peak;
  }
  std::vector<Peak> ranked = transformed(best, [](const auto& entry) { return entry.second; });
  std::ranges::sort(ranked, before);
  return ranked;
}

std::optional<double> peak_ratio(std::int64_t peak_kib, std::optional<std::int64_t> now_kib) {
  if (now_kib.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(peak_kib) / static_cast<double>(*now_kib);
}

void HighWaterFold::see(std::int64_t at_ms, std::int64_t value_kib) {
  if (!found_ || value_kib > found_->value_kib) found_ = {value_kib, at_ms};
}

void HighWaterFold::add(std::int64_t at_ms, std::optional<std::int64_t> resident_kib,
                        std::optional<std::int64_t> mark_kib, bool newborn) {
  if (resident_kib) see(at_ms, *resident_kib);
  if (!mark_kib) return;
  const bool rose = standing_kib_ ? *mark_kib > *standing_kib_ : newborn;
  if (rose) see(at_ms, *mark_kib);
  standing_kib_ = std::max(standing_kib_.value_or(*mark_kib), *mark_kib);
}

}  // namespace memoir
