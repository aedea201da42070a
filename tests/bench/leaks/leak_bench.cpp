// Scores the leak analysis beside the rules that others use, and prints the tables of docs/leak-benchmark.md.
//
//   leak_bench [--split test|development] [--seeds N] [--traces FOLDER] [--show CLASS]
//
// FOLDER (or MEMOIR_TRACES) holds alibaba/ and nezha/; without it the part on recorded memory is skipped. --show tells
// each wrong verdict of a class with its gates, instead.

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <string>

#include "analysis/leak/statistics.h"
#include "base/text.h"
#include "bench/leaks/score.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

struct Arguments {
  Split split = Split::test;
  int seeds = 30;
  std::string traces;
  std::string shown;
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
    } else if (name == "--traces") {
      arguments.traces = value;
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
  Score quiet;     // calm classes in which time alone cannot mislead
  Score plainest;  // level, by day, by week
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
      "episodes per process-day without classes that only time can tell: {:.5f}, confirmed {:.5f}; of flat, by day, "
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

void print_traces(const std::string& title, const std::vector<TraceScore>& scores) {
  fmt::print("\n| {} | alarms as recorded | alarms with the ramp |\n|-|-:|-:|\n", title);
  for (const TraceScore& score : scores) {
    fmt::print("| {} | {} of {} ({:.1f} %) | {} of {} ({:.1f} %) |\n", score.name, score.plain.hits, score.plain.of,
               100 * score.plain.part(), score.ramped.hits, score.ramped.of, 100 * score.ramped.part());
  }
}

void print_recorded(const Arguments& arguments) {
  const auto alibaba = score_traces(arguments.traces + "/alibaba", 20, 0);
  const auto nezha = score_traces(arguments.traces + "/nezha", 0, 0.2);
  if (alibaba.empty() || nezha.empty()) {
    fmt::print("\nRecorded memory: skipped, there are no traces in {} (--traces FOLDER or MEMOIR_TRACES)\n",
               arguments.traces.empty() ? "any folder given" : arguments.traces);
    return;
  }
  print_traces("Alibaba machines, 8 days, +20 points", alibaba);
  print_traces("Nezha pods, under a day, +20 %", nezha);
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
    fmt::print(stderr, "usage: leak_bench [--split test|development] [--seeds N] [--traces FOLDER] [--show CLASS]\n");
    return 2;
  }
  if (!arguments->shown.empty()) {
    show(*arguments);
    return 0;
  }
  print_synthetic(score_cases(arguments->split, arguments->seeds));
  fmt::print("\n| growth over 30 days | recall |\n|-|-:|\n");
  for (const SweepRow& row : score_sweep(arguments->split, 4 * arguments->seeds)) {
    fmt::print("| {:.0f} to {:.0f} % | {:.3f} |\n", 100 * row.low, 100 * row.high, row.alarms.part());
  }
  const Rate exhaustion = score_exhaustion(arguments->split, 4 * arguments->seeds);
  fmt::print("\nexhaustion foretold within a quarter, ten days ahead: {:.1f} %\n", 100 * exhaustion.part());
  print_recorded(*arguments);
}
