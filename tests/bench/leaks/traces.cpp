#include "bench/leaks/traces.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "analysis/leak/statistics.h"
#include "base/file.h"
#include "base/text.h"

namespace memoir::bench {

namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<LeakSample> parse(std::string_view text) {
  std::vector<LeakSample> samples;
  while (!text.empty()) {
    std::string_view line = cut_line(text);
    const auto seconds = number(cut(line, ','));
    const auto least = number(cut(line, ','));
    const auto mean = number(line);
    if (seconds && least) samples.push_back({std::llround(*seconds * 1000), *least, mean, 0});
  }
  return samples;
}

}  // namespace

std::vector<Trace> read_traces(const std::string& folder) {
  std::vector<Trace> traces;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    Buffer buffer;
    const auto text = read_file(entry.path().string(), buffer);
    if (text && entry.path().extension() == ".csv") traces.push_back({entry.path().filename().string(), parse(*text)});
  }
  std::sort(traces.begin(), traces.end(), [](const Trace& a, const Trace& b) { return a.name < b.name; });
  return traces;
}

Trace with_ramp(Trace trace, double rise, double part) {
  const double first = static_cast<double>(trace.samples.front().at_ms);
  const double span = static_cast<double>(trace.samples.back().at_ms) - first;
  for (LeakSample& sample : trace.samples) {
    const double more = rise * std::min((static_cast<double>(sample.at_ms) - first) / (part * span), 1.0);
    sample.value += more;
    if (sample.mean) *sample.mean += more;
  }
  return trace;
}

double median_level(const Trace& trace) {
  std::vector<double> values;
  for (const LeakSample& sample : trace.samples) values.push_back(sample.value);
  return median_of(std::move(values));
}

}  // namespace memoir::bench
