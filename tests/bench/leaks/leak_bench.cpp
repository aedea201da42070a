// Scores the leak analysis and the rules of other programs, and prints the tables of docs/leak-benchmark.md.
//
//   leak_bench [--split test|development] [--seeds N] [--traces|--recorded FOLDER] [--show CLASS]
//
// FOLDER (or $MEMOIR_TRACES) contains alibaba/ and nezha/; without it the part on recorded memory is skipped.
// --recorded prints only that part. --show prints each wrong verdict of a class with its gates instead.

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <string>

#include "analysis/leak/statistics.h"
#include "base/text.h"
#include "bench/leaks/recorded.h"
#include "bench/leaks/score.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

struct Arguments {
  Split split = Split::test;
  int seeds = 30;
  std::string traces;
  std::string shown;
  bool only_recorded = false;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  if (const char* folder = std::getenv("MEMOIR_TRACES")) arguments.traces = folder;
  for (int at = 1; at < argc; at += 2) {
    const std::string name = argv[at];
    if (at + 1 == argc) return std::nullopt;
    const std::string value = argv[at + 1];
    if (name == "--split" && (value == "test" || value == "development")) {
      arguments.split = value == "test" ? Split::test : Split::development;
    } else if (name == "--seeds" && parse_number<int>(value).value_or(0) > 0) {
      arguments.seeds = *parse_number<int>(value);
    } else if (name == "--traces" || name == "--recorded") {
      arguments.traces = value;
      arguments.only_recorded = name == "--recorded";
    } else if (name == "--show") {
      arguments.shown = value;
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

std::string or_dash(const std::vector<double>& values, double part, int digits, double scale = 1) {
  return values.empty() ? "" : fmt::format("{:.{}f}", scale * quantile_of(values, part), digits);
}

void print_class(const CaseClass& which, const Score& score) {
  const bool slopes = !score.slope_errors.empty();
  fmt::print("| {} | {} | {:.3f} | {} | {} | {} | {} | {} | {} | {} | {:.2f} |\n", which.leak ? "leak" : "calm",
             which.name, score.alarms.part(), score.expected.of > 0 ? fmt::format("{:.2f}", score.expected.part()) : "",
             score.days > 0 ? fmt::format("{:.4f}", score.episodes / score.days) : "",
             score.days > 0 ? fmt::format("{:.4f}", score.confirmed / score.days) : "",
             or_dash(score.latency_days, 0.5, 1), or_dash(score.leaked_kib, 0.5, 0, 1.0 / 1024),
             slopes ? or_dash(score.slope_errors, 0.5, 1, 100) + " / " + or_dash(score.slope_errors, 0.9, 1, 100) : "",
             slopes ? fmt::format("{:.0f}", 100 * score.covered.part()) : "",
             static_cast<double>(score.cpu_us) / 1000 / score.judged);
}

struct Counts {
  Rate leaks;
  Rate calm;
  double precision() const { return static_cast<double>(leaks.hits) / std::max(1, leaks.hits + calm.hits); }
  double f1() const {
    const double sum = precision() + leaks.part();
    return sum > 0 ? 2 * precision() * leaks.part() / sum : 0;
  }
};

void add(Rate& sum, const Rate& rate) {
  sum.hits += rate.hits;
  sum.of += rate.of;
}

void print_synthetic(const Scores& scores) {
  fmt::print(
      "| | class | alarms | as named | episodes / day | confirmed / day | latency, d | leaked, MiB | slope error, % "
      "(median / p90) | interval holds, % | ms |\n|-|-|-:|-:|-:|-:|-:|-:|-:|-:|-:|\n");
  Counts ours;
  Score all;
  Score quiet;     // calm classes whose verdict does not depend on elapsed time only
  Score plainest;  // level, daily and weekly load
  for (const auto& [which, score] : scores.classes) {
    print_class(which, score);
    add(which.leak ? ours.leaks : ours.calm, score.alarms);
    all.slope_errors.insert(all.slope_errors.end(), score.slope_errors.begin(), score.slope_errors.end());
    all.latency_days.insert(all.latency_days.end(), score.latency_days.begin(), score.latency_days.end());
    add(all.covered, score.covered);
    all.cpu_us += score.cpu_us;
    all.judged += score.judged;
    if (which.leak) continue;
    const bool slow = which.name.find("warm-up") != std::string::npos || which.name == "filling cache" ||
                      which.name == "grew, then level" || which.name == "leak, then fixed" ||
                      which.name == "random walk" || which.name == "sawtooth, 1 to 4 days" ||
                      which.name == "sawtooth, a week";
    const bool plain = which.name == "flat" || which.name == "by day" || which.name == "by week";
    for (Score* sum : {slow ? nullptr : &quiet, plain ? &plainest : nullptr}) {
      if (sum == nullptr) continue;
      sum->days += score.days;
      sum->episodes += score.episodes;
      sum->confirmed += score.confirmed;
    }
  }
  fmt::print(
      "\nslope error: median {} %, p90 {} %; the 90 % interval holds the truth in {:.1f} %; {:.2f} ms per series\n",
      or_dash(all.slope_errors, 0.5, 2, 100), or_dash(all.slope_errors, 0.9, 2, 100), 100 * all.covered.part(),
      static_cast<double>(all.cpu_us) / 1000 / all.judged);
  fmt::print("latency: median {} d\n", or_dash(all.latency_days, 0.5, 1));
  fmt::print(
      "episodes per process-day without classes decided only by time: {:.5f}, confirmed {:.5f}; of flat, by day, "
      "by week: {:.5f}, confirmed {:.5f}\n\n",
      quiet.episodes / quiet.days, quiet.confirmed / quiet.days, plainest.episodes / plainest.days,
      plainest.confirmed / plainest.days);
  fmt::print("| rule | precision | recall | F1 | alarms on calm |\n|-|-:|-:|-:|-:|\n");
  const auto print = [](const std::string& name, const Counts& counts) {
    fmt::print("| {} | {:.4f} | {:.4f} | {:.4f} | {:.3f} |\n", name, counts.precision(), counts.leaks.part(),
               counts.f1(), counts.calm.part());
  };
  print("Memoir", ours);
  for (const auto& [name, hits] : scores.baseline_hits) print(name, {hits, scores.baseline_alarms.at(name)});
  fmt::print("\n| confidence | alarms | of them leaks |\n|-|-:|-:|\n");
  for (const auto& [ten, rate] : scores.by_confidence) {
    fmt::print("| {} to {} | {} | {:.3f} |\n", 10 * ten, 10 * ten + 10, rate.of, rate.part());
  }
}

std::string percent(const Rate& rate) {
  return rate.of == 0 ? "" : fmt::format("{} of {}", rate.hits, rate.of);
}

void print_ramps(const std::string& title, const std::vector<Trace>& traces, const std::vector<double>& rises,
                 bool shares) {
  fmt::print("\n| {} | alarms as recorded | a machine-month |", title);
  for (const double rise : rises) {
    fmt::print(" +{:.0f} {} |", shares ? 100 * rise : rise, shares ? "%" : "points");
  }
  fmt::print(" the last, ended before the last fifth |\n|-|-:|-:|-:|");
  for (std::size_t rise = 0; rise < rises.size(); ++rise) fmt::print("-:|");
  fmt::print("\n");
  const std::vector<RampScore> scores = score_ramps(traces, rises, shares);
  for (std::size_t rule = 0; rule < scores.size(); ++rule) {
    const RampScore& score = scores[rule];
    fmt::print("| {} | {} | {:.2f} |", rules()[rule].name, percent(score.plain), score.episodes / score.months);
    for (const Rate& rate : score.ramped) fmt::print(" {} |", percent(rate));
    fmt::print(" {} |\n", percent(score.stopped));
  }
}

void print_fills(const std::string& title, const std::vector<Trace>& traces, const std::vector<double>& hours) {
  fmt::print("\n| {}: still an alarm after the first | |", title);
  for (const double cut : hours) fmt::print(" {:.0f} h before |", cut);
  fmt::print("\n|-|-|");
  for (std::size_t cut = 0; cut < hours.size(); ++cut) fmt::print("-:|");
  fmt::print("\n");
  const std::vector<FillScores> scores = score_fills(traces, hours);
  for (std::size_t rule = 0; rule < scores.size(); ++rule) {
    const bool forecasts = std::ranges::any_of(scores[rule].cuts, [](const FillScore& cut) { return cut.found.hits; });
    if (!forecasts) continue;
    fmt::print("| {} | {:.2f} |", rules()[rule].name, scores[rule].stable.part());
    for (const FillScore& cut : scores[rule].cuts) {
      fmt::print(" {}; {}; {}; {} |", percent(cut.found), or_dash(cut.errors, 0.5, 2),
                 cut.covered.of > 0 ? fmt::format("{:.0f} %", 100 * cut.covered.part()) : "-",
                 cut.widths.empty()                              ? "-"
                 : quantile_of(cut.widths, 0.5) >= kInfinite / 2 ? "∞"
                                                                 : or_dash(cut.widths, 0.5, 1));
    }
    fmt::print("\n");
  }
}

std::vector<Trace> all_with_ramp(const std::vector<Trace>& traces, double rise, bool share) {
  std::vector<Trace> ramped;
  for (const Trace& trace : traces) ramped.push_back(with_ramp(trace, share ? rise * median_level(trace) : rise));
  return ramped;
}

void print_recorded(const Arguments& arguments) {
  print_fills("Synthetic, one to six days", synthetic_fills(arguments.split, arguments.seeds), {48, 24, 12, 6, 3});
  const std::vector<Trace> alibaba = read_traces(arguments.traces + "/alibaba");
  const std::vector<Trace> nezha = read_traces(arguments.traces + "/nezha");
  if (alibaba.empty() || nezha.empty()) {
    fmt::print("\nRecorded memory: skipped, there are no traces in {} (--traces FOLDER or MEMOIR_TRACES)\n",
               arguments.traces.empty() ? "any folder given" : arguments.traces);
    return;
  }
  print_ramps("Alibaba machines, 8 days", alibaba, {5, 10, 15, 20}, false);
  print_ramps("Nezha pods, under a day", nezha, {0.1, 0.2, 0.4}, true);
  print_fills("Alibaba, +20 points", all_with_ramp(alibaba, 20, false), {48, 24, 12, 6, 3});
  print_fills("Nezha, +20 %", all_with_ramp(nezha, 0.2, true), {6, 3});
}

void show(const Arguments& arguments) {
  for (const CaseClass& which : case_classes()) {
    if (which.name != arguments.shown) continue;
    for (const Wrong& wrong : wrong_verdicts(which, arguments.split, arguments.seeds)) {
      fmt::print("seed {}: {}, {:.1f} d of {:.1f} d;", wrong.seed, to_string(wrong.found.verdict),
                 static_cast<double>(wrong.found.window_ms) / kDayMs,
                 static_cast<double>(wrong.found.history_ms) / kDayMs);
      for (const LeakGate& gate : wrong.found.gates) {
        fmt::print(" {}{} {:.3g} / {:.3g}", gate.passed ? "" : "! ", gate.name, gate.value, gate.threshold);
      }
      fmt::print("\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    fmt::print(
        stderr,
        "usage: leak_bench [--split test|development] [--seeds N] [--traces|--recorded FOLDER] [--show CLASS]\n");
    return 2;
  }
  if (!arguments->shown.empty()) {
    show(*arguments);
    return 0;
  }
  if (arguments->only_recorded) {
    print_recorded(*arguments);
    return 0;
  }
  print_synthetic(score_cases(arguments->split, arguments->seeds));
  fmt::print("\n| growth over 30 days | recall |\n|-|-:|\n");
  for (const SweepRow& row : score_sweep(arguments->split, 4 * arguments->seeds)) {
    fmt::print("| {:.0f} to {:.0f} % | {:.3f} |\n", 100 * row.low, 100 * row.high, row.alarms.part());
  }
  const Rate exhaustion = score_exhaustion(arguments->split, 4 * arguments->seeds);
  fmt::print("\nexhaustion forecast within a quarter, one to ten days ahead: {:.1f} %\n", 100 * exhaustion.part());
  print_recorded(*arguments);
}
