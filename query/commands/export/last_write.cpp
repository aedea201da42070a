#include "query/commands/export/last_write.h"

#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace memoir::query {
namespace {

// Maximum of a value: far above any time or size, and a sum of several does not overflow.
constexpr double kMaxWritten = 0x1p53;

bool is_of_leaks(std::size_t family) {
  return family >= family_of(FleetOf::leaks) && family <= family_of(FleetOf::leak_confidence);
}

std::optional<std::int64_t> stored_of(std::string_view text, double scale) {
  const auto value = parse_number<double>(text);
  if (!value || !(std::abs(*value / scale) <= kMaxWritten)) return std::nullopt;
  return std::llround(*value / scale);
}

// Parses a line of the file; nullopt if it is not a sample of a machine with these labels.
std::optional<FleetSample> sample_of(std::string_view line, const std::string& labels) {
  static const std::unordered_map<std::string, std::size_t> numbers = [] {
    std::unordered_map<std::string, std::size_t> all;
    for (std::size_t i = 0; i < fleet_families().size(); ++i) all.emplace(series_name(fleet_families()[i]), i);
    return all;
  }();
  const std::size_t open = line.find('{');
  const std::size_t close = line.rfind("} ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto number = numbers.find(std::string(line.substr(0, open)));
  if (number == numbers.end()) return std::nullopt;
  const auto value = stored_of(line.substr(close + 2), fleet_families()[number->second].scale);
  FleetSample sample{number->second, std::string(line.substr(open + 1, close - open - 1))};
  if (!value || !sample.labels.starts_with(labels)) return std::nullopt;
  sample.value = *value;
  return sample;
}

}  // namespace

LastWrite last_write(std::string_view text, const std::string& labels) {
  LastWrite last;
  std::size_t last_family = 0;
  std::size_t rank = 0;
  while (!text.empty()) {
    std::optional<FleetSample> sample = sample_of(cut_line(text), labels);
    if (!sample) continue;
    if (sample->family == family_of(FleetOf::recorder_last_tick)) last.tick_ms = sample->value;
    if (!is_of_leaks(sample->family)) continue;
    if (sample->family == family_of(FleetOf::leaks_judged)) last.leaks.judged_ms = sample->value;
    rank = std::exchange(last_family, sample->family) == sample->family ? rank + 1 : 0;
    sample->rank = rank;
    last.leaks.samples.push_back(*std::move(sample));
  }
  return last;
}

void as_judged(LastWrite& last) {
  const std::int64_t passed_ms = last.tick_ms.value_or(last.leaks.judged_ms) - last.leaks.judged_ms;
  for (FleetSample& sample : last.leaks.samples) {
    if (sample.family == family_of(FleetOf::leak_exhaustion)) sample.value += passed_ms;
  }
}

}  // namespace memoir::query
