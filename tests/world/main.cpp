// Records worlds and checks the laws on them:
//
//   world --seed 2 [--law 13] [--db FILE]   one world; the recording stays in FILE, for memoir
//   world --seeds 1..60                     several worlds
//   world --kept FILE                       a schedule of tests/world/kept, or your own
//   world --seed 2 --steps                  prints its schedule instead
//   world --seed 2 --shrink "13 events"     prints a short schedule that violates this clause too, for kept/
//   --ticks N                               number of ticks of a drawn schedule
//
// Prints each violated law with the first violation, and in the last line how often each law was checked. The exit
// status is 1 if a law is violated more often than a kept schedule marks as known. With many seeds it is also 1 if a
// law was hardly ever checked.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "base/log.h"
#include "query/render/terminal.h"
#include "world/audit/laws.h"
#include "world/drive/schedule.h"
#include "world/shrink.h"
#include "world/trial.h"

using namespace memoir::world;

namespace {

constexpr std::uint64_t kManySeeds = 20;

struct Options {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  int ticks = kTicks;
  bool prints_steps = false;
  std::string kept;
  std::string shrunk;  // clause that the shortened schedule must still violate
  TrialOptions trial;
};

Options parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] { return words.at(++i); };
    if (words[i] == "--seed") {
      options.first = options.last = std::stoull(value());
    } else if (words[i] == "--seeds") {
      const std::string range = value();
      options.first = std::stoull(range);
      options.last = std::stoull(range.substr(range.find("..") + 2));
    } else if (words[i] == "--law") {
      options.trial.law = std::stoi(value());
    } else if (words[i] == "--db") {
      options.trial.path = value();
    } else if (words[i] == "--kept") {
      options.kept = value();
    } else if (words[i] == "--ticks") {
      options.ticks = std::stoi(value());
    } else if (words[i] == "--shrink") {
      options.shrunk = value();
    } else if (words[i] == "--steps") {
      options.prints_steps = true;
    } else {
      throw std::invalid_argument("no option " + words[i] + ": see main.cpp");
    }
  }
  return options;
}

std::vector<std::string> steps_of(const Options& options, std::uint64_t seed) {
  return options.kept.empty() ? schedule(seed, options.ticks) : read_kept(options.kept).steps;
}

int print_steps(const Options& options) {
  std::vector<std::string> steps = steps_of(options, options.first);
  if (!options.shrunk.empty()) steps = shrink(steps, read_clause(options.shrunk));
  for (const std::string& step : steps) std::printf("%s\n", step.c_str());
  return 0;
}

int run(const Options& options) {
  if (options.prints_steps || !options.shrunk.empty()) return print_steps(options);
  Tally tally;
  for (std::uint64_t seed = options.first; seed <= options.last; ++seed) {
    const std::string label = options.kept.empty() ? fmt::format("seed {}", seed) : options.kept;
    run_trial(steps_of(options, seed), label, options.trial, tally);
  }
  const bool many = options.last - options.first >= kManySeeds && !options.trial.law;
  const std::vector<std::string> failed =
      options.kept.empty() ? failures(tally, many ? 20 : 0) : failures(tally, read_kept(options.kept));
  for (const auto& [clause, count] : tally.clauses) {
    if (count.violated == 0) continue;
    std::printf("%d%s%s: %lld of %lld: %s\n", clause.law, clause.name.empty() ? "" : " ", clause.name.c_str(),
                static_cast<long long>(count.violated), static_cast<long long>(count.checked), count.first.c_str());
  }
  std::printf("\n%zu not known\n", failed.size());
  for (const std::string& line : failed) std::printf("%s\n", line.c_str());
  std::map<int, std::int64_t> checked;
  for (const auto& [clause, count] : tally.clauses) checked[clause.law] += count.checked;
  std::string line = fmt::format("{} queries; checks of each law:", tally.queries);
  for (const auto& [law, count] : checked) line += fmt::format(" {}: {}", law, count);
  std::printf("%s\n", line.c_str());
  return failed.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    setenv("TMPDIR", "/dev/shm", 0);  // faster for thousands of small files
    memoir::query::use_utf8();
    memoir::log_start(memoir::LogLevel::error);
    return run(parse({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "world: %s\n", error.what());
    return 2;
  }
}
