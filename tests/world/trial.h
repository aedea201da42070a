#pragma once

// A trial: a schedule is recorded, and the laws are checked on the recording.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "world/audit/audit.h"

namespace memoir::world {

inline constexpr int kTicks = 300;  // of a drawn schedule

struct TrialOptions {
  std::optional<int> law = {};  // only this one
  std::string path = {};        // of the recording to keep; empty: deleted
};

// An error of the recorder stops it and violates law 0.
void run_trial(const std::vector<std::string>& steps, const std::string& label, const TrialOptions& options,
               Tally& tally);

// A schedule in a file, kept since it violated laws. Its first lines name them:
//
//   # law 17 after an exec, known in 2 of 1000: LIFETIME counts from the exec, LIVED from the fork
//   # law 60
//
// A known violation does not fail a test in this schedule, nor in drawn ones while at most so many of all checks of the
// clause violate it. To unmark it, delete ", known …".
struct Known {
  Clause clause;
  std::int64_t in_1000 = 0;
};
struct Kept {
  std::string name;
  std::vector<Clause> clauses;
  std::vector<Known> known;
  std::vector<std::string> steps;
};
Clause read_clause(std::string_view text);  // "17 after an exec"
Kept read_kept(const std::string& path);
std::vector<Kept> read_all_kept();

// Failures of drawn schedules: unknown violations, a line for each; and a line for each law that was checked less than
// `min_checks` times.
std::vector<std::string> failures(const Tally& tally, std::int64_t min_checks);
// Failures of one kept schedule: violations that it does not mark as known.
std::vector<std::string> failures(const Tally& tally, const Kept& kept);

}  // namespace memoir::world
