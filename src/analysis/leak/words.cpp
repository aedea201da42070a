#include "analysis/leak/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/transformed.h"

namespace memoir {

namespace {

struct Words {
  LeakVerdict verdict;
  std::string_view name;
  std::string_view reason;
};

constexpr std::array kWords{
    Words{LeakVerdict::steady, "leak-steady", "its floor rises continuously"},
    Words{LeakVerdict::step, "leak-step", "its floor rises in repeated jumps and never falls back"},
    Words{LeakVerdict::sawtooth_floor, "leak-sawtooth-floor",
          "it falls back repeatedly, but each time to a higher floor"},
    Words{LeakVerdict::across_restarts, "leak-across-restarts", "each run grows from its start to its end"},
    Words{LeakVerdict::count, "count-leak", "the number of processes keeps growing"},
    Words{LeakVerdict::plateaued, "plateaued", "it grew, but has stopped growing"},
    Words{LeakVerdict::warm_up, "warm-up", "it grows more and more slowly, like a cache that fills"},
    Words{LeakVerdict::warm_up_per_restart, "warm-up-per-restart", "each run grows at its start and then levels off"},
    Words{LeakVerdict::level_shift, "level-shift", "it rose in one or a few steps and is level between them"},
    Words{LeakVerdict::within_envelope, "within-envelope", "it rises, but not above earlier levels"},
    Words{LeakVerdict::diurnal, "diurnal", "it rises as it did at this hour on earlier days"},
    Words{LeakVerdict::below_minimum, "below-minimum", "it rises, but by too little to matter or to exceed its noise"},
    Words{LeakVerdict::contained, "contained-by-recycling",
          "its processes grow, but are replaced before their sum grows"},
    Words{LeakVerdict::scale_out, "scale-out", "there are more processes, and none of them grows"},
    Words{LeakVerdict::noise, "noise", "its floor has no lasting trend"},
    Words{LeakVerdict::insufficient, "insufficient", "there is too little history to judge"},
};

const Words& words_of(LeakVerdict verdict) {
  return *std::ranges::find(kWords, verdict, &Words::verdict);
}

// Distance of a gate's value from its threshold, relative to the threshold.
double margin(const LeakGate& gate) {
  const double scale = std::max(std::abs(gate.threshold), 1e-9);
  return std::abs(gate.value - gate.threshold) / scale;
}

std::string of_gate(const LeakGate& gate, std::string_view lead) {
  return fmt::format("{} {} {} {:.4g} (now {:.4g}): {}", lead, gate.name, gate.passed ? "below" : "of at least",
                     gate.threshold, gate.value, gate.meaning);
}

// Describes the two gates that were passed most narrowly.
std::vector<std::string> of_leak(const LeakFinding& found) {
  std::vector<LeakGate> gates;
  std::copy_if(found.gates.begin(), found.gates.end(), std::back_inserter(gates),
               [](const LeakGate& gate) { return gate.passed && gate.threshold != 0; });
  std::sort(gates.begin(), gates.end(), [](const LeakGate& a, const LeakGate& b) { return margin(a) < margin(b); });
  if (gates.size() > 2) gates.resize(2);
  return transformed(gates, [](const LeakGate& gate) { return of_gate(gate, "it would not count as a leak with"); });
}

std::string format_hours(std::int64_t ms, const LeakSettings& settings) {
  return fmt::format("{:.1f} hours{}", static_cast<double>(ms) / static_cast<double>(settings.hour_ms),
                     settings.hour_ms == 3'600'000 ? "" : " (of the configured length)");
}

// Describes the available and the required history.
std::string of_history(const LeakFinding& found, const LeakSettings& settings) {
  if (found.recorded_ms >= found.needed_ms)
    return ": " + format_hours(found.recorded_ms, settings) + " of the current run, with too many gaps";
  return fmt::format(": {:.1f} of the {} needed of one run",
                     static_cast<double>(found.recorded_ms) / static_cast<double>(settings.hour_ms),
                     format_hours(found.needed_ms, settings));
}

std::vector<std::string> of_other(const LeakFinding& found, const LeakSettings& settings) {
  if (found.verdict == LeakVerdict::insufficient) {
    return {"more history: at least two hours of one run, or three runs of a day and a half; there are " +
            format_hours(found.recorded_ms, settings) + " of the current run"};
  }
  std::vector<std::string> sentences;
  for (const LeakGate& gate : found.gates) {
    if (!gate.passed) sentences.push_back(of_gate(gate, "it would count as a leak with"));
  }
  return sentences;
}

// Returns the share of right verdicts from docs/leak-benchmark.md, "What a verdict is worth".
LeakWorth worth_of(const LeakFinding& found, const LeakSettings& settings) {
  constexpr double sure = 90;
  const double days = static_cast<double>(found.history_ms) / (24 * static_cast<double>(settings.hour_ms));
  if (days < 1) return LeakWorth{93, "recorded services of under a day"};
  if (days < 5) return LeakWorth{94, "recorded machines of one to five days"};
  if (days < 9) return LeakWorth{99, "recorded machines of five to eight days"};
  return LeakWorth{found.confidence >= sure ? 99 : 93, "synthetic series of thirty days"};
}

}  // namespace

std::string_view to_string(LeakVerdict verdict) {
  return words_of(verdict).name;
}

bool is_leak(LeakVerdict verdict) {
  return verdict <= LeakVerdict::count;
}

void explain(LeakFinding& found, const LeakSettings& settings) {
  found.reason = words_of(found.verdict).reason;
  if (found.verdict == LeakVerdict::insufficient) found.reason += of_history(found, settings);
  if (found.exhaustion && found.exhaustion->accelerates) found.reason += "; it grows faster than before";
  if (found.short_history) found.reason += "; less than a day was observed";
  found.worth = found.leak ? std::optional(worth_of(found, settings)) : std::nullopt;
  found.would_change = found.leak ? of_leak(found) : of_other(found, settings);
}

}  // namespace memoir
