#include "collect/pss/shared_drift.h"

#include <algorithm>
#include <cstdlib>

namespace memoir {
namespace {

// The kernel's counter lags by up to 125 pages per CPU, and is not read at the same moment as the processes.
constexpr std::int64_t kMinDriftKib = 8 * 1024;
constexpr std::int64_t kDriftPart = 256;  // a drift below 1/kDriftPart of Mapped is ignored
// A drift has ended when it is smaller than 1/kSmallPart of the limit. It counts as a new change only above that size.
constexpr std::int64_t kSmallPart = 4;

// Suspects whose possible error is smaller than the largest one by more than this factor get no part of the drift until
// the suspect with the largest has been read.
constexpr std::int64_t kMuchSmaller = 8;

// Returns the possible error of a share: the whole share if shares are too large in total, otherwise the part of other
// mappers.
std::int64_t possible_error_kib(const SharedHolder& holder, std::int64_t drift_kib) {
  return drift_kib < 0 ? holder.pss_kib : holder.rss_kib - holder.pss_kib;
}

}  // namespace

void SharedDrift::find_errors(std::optional<std::int64_t> mapped_kib, std::int64_t now_ms, bool after_reads,
                              std::vector<SharedHolder>& holders) {
  if (!mapped_kib || (!rest_kib_ && !after_reads)) return;
  const Sums sums = sums_of(holders);
  const std::int64_t limit_kib = std::max(kMinDriftKib, *mapped_kib / kDriftPart);
  if (rest_kib_) {
    const std::int64_t drift = drift_kib(*mapped_kib, sums);
    const std::int64_t small_kib = limit_kib / kSmallPart;
    const bool is_right = std::abs(drift) <= (since_ms_ ? small_kib : limit_kib);
    // Drift that new readings of corrected holders cause is not a new change.
    if (!is_right && (!since_ms_ || std::abs(drift + sums.replaced_kib) > small_kib)) since_ms_ = now_ms;
    if (is_right && std::abs(sums.unknown_kib - unknown_kib_) <= limit_kib) return;
    if (!is_right && spread(drift, limit_kib, holders)) return;
    if (!after_reads) return;
  }
  // Either the set of unknown processes has changed, or all suspects were read and the difference remains.
  rest_kib_ = *mapped_kib - sums.known_kib;
  unknown_kib_ = sums.unknown_kib;
  since_ms_.reset();
}

SharedDrift::Sums SharedDrift::sums_of(const std::vector<SharedHolder>& holders) {
  Sums sums;
  for (const SharedHolder& holder : holders) {
    (holder.is_known ? sums.known_kib : sums.unknown_kib) += holder.is_known ? holder.pss_kib : holder.rss_kib;
    if (holder.is_known) sums.moved_kib += holder.moved_kib;
    sums.replaced_kib += holder.replaced_kib;
  }
  return sums;
}

// Returns the drift, without the part that unknown processes and changed counters can explain.
std::int64_t SharedDrift::drift_kib(std::int64_t mapped_kib, const Sums& sums) const {
  const std::int64_t drift = mapped_kib - sums.known_kib - *rest_kib_;
  const std::int64_t unknown = sums.unknown_kib - unknown_kib_;
  return drift - std::clamp(drift, std::min<std::int64_t>(unknown, 0) - sums.moved_kib,
                            std::max<std::int64_t>(unknown, 0) + sums.moved_kib);
}

// Distributes the drift over the suspects, weighted by the squares of their possible errors: an error of one large
// holder is more likely than errors of many small ones. Returns false if the holders that were not read since the
// change cannot explain the drift.
bool SharedDrift::spread(std::int64_t drift_kib, std::int64_t limit_kib, std::vector<SharedHolder>& holders) const {
  const auto is_suspect = [this](const SharedHolder& holder) { return holder.is_known && holder.read_ms < *since_ms_; };
  std::int64_t largest_kib = 0;
  std::int64_t all_kib = 0;
  for (const SharedHolder& holder : holders) {
    if (!is_suspect(holder)) continue;
    const std::int64_t kib = possible_error_kib(holder, drift_kib);
    largest_kib = std::max(largest_kib, kib);
    all_kib += std::max<std::int64_t>(kib, 0);
  }
  if (all_kib < std::abs(drift_kib) - limit_kib) return false;
  double weights = 0;
  const auto weight = [&](const SharedHolder& holder) {
    const std::int64_t kib = possible_error_kib(holder, drift_kib);
    const bool is_large = is_suspect(holder) && kib > 0 && kib >= largest_kib / kMuchSmaller;
    return is_large ? static_cast<double>(kib) * static_cast<double>(kib) : 0;
  };
  for (const SharedHolder& holder : holders) weights += weight(holder);
  if (weights <= 0) return false;
  for (SharedHolder& holder : holders) {
    const double part = weight(holder) / weights;
    if (part == 0) continue;
    const auto error = static_cast<std::int64_t>(static_cast<double>(drift_kib) * part);
    const std::int64_t max_kib = possible_error_kib(holder, drift_kib);
    // At least 1 KiB, because the value of a suspect is no longer certain.
    holder.error_kib =
        drift_kib < 0 ? std::clamp<std::int64_t>(error, -max_kib, -1) : std::clamp<std::int64_t>(error, 1, max_kib);
  }
  return true;
}

}  // namespace memoir
