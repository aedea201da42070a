#include "collect/pss/cpu_budget.h"

#include <algorithm>

namespace memoir {

void CpuBudget::begin(std::int64_t boot_ms, std::int64_t other_us) {
  if (first_ && began_ms_) left_us_ = std::max(left_us_, -kFirstDebtMs * share_ppm_ / 1000);
  first_ = !began_ms_;
  const std::int64_t elapsed_ms = first_ ? kSavedMs : std::clamp<std::int64_t>(boot_ms - *began_ms_, 0, kSavedMs);
  began_ms_ = boot_ms;
  const std::int64_t earned_us = elapsed_ms * share_ppm_ / 1000;
  left_us_ = first_ ? earned_us : left_us_ + std::max(earned_us - other_us, earned_us / 4);
  left_us_ = std::min(left_us_, kSavedMs * share_ppm_ / 1000);
}

std::int64_t CpuBudget::left_us() const {
  return unlimited() || first_ ? kUnlimited : left_us_;
}

}  // namespace memoir
