#include "analysis/leak/samples.h"

#include <algorithm>

#include "analysis/leak/statistics.h"

namespace memoir {

namespace {

constexpr std::int64_t kNarrowPerHour = 12;
constexpr std::int64_t kNarrowUntilHours = 48;
constexpr double kLongestHold = 3;  // maximum validity of a sample, as a multiple of the usual spacing

std::int64_t usual_spacing(std::span<const LeakSample> samples) {
  std::vector<double> spacings;
  for (std::size_t at = 1; at < samples.size(); ++at) {
    const std::int64_t spacing_ms = samples[at].at_ms - samples[at - 1].at_ms;
    if (spacing_ms > 0) spacings.push_back(static_cast<double>(spacing_ms));
  }
  return spacings.empty() ? 0 : static_cast<std::int64_t>(median_of(std::move(spacings)));
}

// Returns the length of the last life.
std::int64_t history_of(std::span<const LeakSample> samples) {
  const auto first = std::ranges::find(samples, samples.back().life, &LeakSample::life);
  return samples.back().at_ms - first->at_ms;
}

LeakBucket& bucket_at(LeakSeries& series, std::int64_t begin_ms, std::int32_t life) {
  std::vector<LeakBucket>& buckets = series.buckets;
  if (buckets.empty() || buckets.back().from_ms != begin_ms || buckets.back().life != life) {
    buckets.push_back({begin_ms, 0, 0, 0, 0, life});
  }
  return buckets.back();
}

void fold(LeakBucket& bucket, double value, double mean, std::int64_t held_ms) {
  const bool first = bucket.covered_ms == 0;
  bucket.min = first ? value : std::min(bucket.min, value);
  bucket.max = first ? std::max(value, mean) : std::max({bucket.max, value, mean});
  const auto before = static_cast<double>(bucket.covered_ms);
  const auto held = static_cast<double>(held_ms);
  bucket.mean = (bucket.mean * before + mean * held) / (before + held);
  bucket.covered_ms += held_ms;
}

}  // namespace

void LeakRollup::hold(std::int64_t from_ms, std::int64_t until_ms, double value, std::optional<double> mean,
                      std::int32_t life) {
  for (std::int64_t at = from_ms; at < until_ms;) {
    const std::int64_t begin = at - at % series_.width_ms;
    const std::int64_t end = std::min(begin + series_.width_ms, until_ms);
    fold(bucket_at(series_, begin, life), value, mean.value_or(value), end - at);
    at = end;
  }
}

std::int64_t leak_bucket_ms(std::int64_t history_ms, const LeakSettings& settings) {
  const bool narrow = history_ms < kNarrowUntilHours * settings.hour_ms;
  return std::max<std::int64_t>(narrow ? settings.hour_ms / kNarrowPerHour : settings.hour_ms, 1);
}

LeakSeries roll_up(std::span<const LeakSample> samples, const LeakSettings& settings) {
  if (samples.empty()) return {};
  const std::int64_t spacing_ms = std::max<std::int64_t>(usual_spacing(samples), 1);
  LeakRollup rollup(std::max(leak_bucket_ms(history_of(samples), settings), spacing_ms));
  const auto hold_ms = static_cast<std::int64_t>(kLongestHold * static_cast<double>(spacing_ms));
  for (std::size_t at = 0; at < samples.size(); ++at) {
    const LeakSample& sample = samples[at];
    const bool followed = at + 1 < samples.size() && samples[at + 1].life == sample.life;
    const std::int64_t next_ms = followed ? samples[at + 1].at_ms : sample.at_ms + spacing_ms;
    const bool gap = next_ms - sample.at_ms > hold_ms;
    rollup.hold(sample.at_ms, gap ? sample.at_ms + spacing_ms : next_ms, sample.value, sample.mean, sample.life);
  }
  return rollup.take();
}

}  // namespace memoir
