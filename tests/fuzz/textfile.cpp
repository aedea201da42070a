#include <cstdlib>

#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "query/commands/export/last_write.h"

// The first line contains the labels of a machine, the remainder is the file to be replaced.
void memoir::fuzz::textfile(std::string_view text) {
  constexpr std::int64_t kNow = 1'795'166'412'000;
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const std::string labels(cut_line(text));
  query::LastWrite last = query::last_write(text, labels);
  require(last.tick_ms.value_or(0) <= kMost && std::abs(last.leaks.judged_ms) <= kMost, "a time is in range");
  for (const query::FleetSample& sample : last.leaks.samples) {
    require(sample.labels.starts_with(labels), "a series has this machine's labels");
    require(std::abs(sample.value) <= kMost && sample.rank < last.leaks.samples.size(), "a value is in range");
  }
  query::as_judged(last);
  std::vector<query::FleetSample> samples;
  query::add_leaks(last.leaks, kNow, samples);
  require(samples.size() == last.leaks.samples.size(), "the samples found are valid");
}
