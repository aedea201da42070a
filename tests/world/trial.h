#pragma once

// A trial records a schedule and checks the laws on the recording.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "world/audit/audit.h"

namespace memoir::world {

inline constexpr int kTicks = 300;  // ticks of a drawn schedule

struct TrialOptions {
  std::optional<int> law = {};  // checks only this law
  std::string path = {};        // path of the recording; empty: it is deleted
};

// An error of the recorder stops it and violates law 0.
void run_trial(const std::vector<std::string>& steps, const std::string& label, const TrialOptions& options,
               Tally& tally);

// A schedule in a file, kept because it violated laws. Its first lines name these:
//
//   # law 17 after an exec, known in 2 of 1000: LIFETIME counts from the exec, LIVED from the fork
//   # law 60
//
// A known violation does not fail the test of this schedule. It does not fail drawn schedules either, as long as no
// greater share of the clause's checks violates it. To make it fail the tests again, delete ", known …".
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

// Failures of drawn schedules: a line for each unknown violation, and a line for each law that was checked less than
// `min_checks` times.
std::vector<std::string> failures(const Tally& tally, std::int64_t min_checks);
// Failures of one kept schedule: the violations that it does not mark as known.
std::vector<std::string> failures(const Tally& tally, const Kept& kept);

}  // namespace memoir::world
