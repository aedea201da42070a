#pragma once

// The laws: statements that are true of every recording. Each has a sentence and a function that checks it; each family
// has its file.

#include <span>

#include "collect/tick_source.h"
#include "world/audit/audit.h"

namespace memoir::world {

struct Law {
  int number = 0;
  const char* sentence = "";
  void (*check)(Audit&) = nullptr;  // checks a finished recording; null: check_tick() checks the law
};

std::span<const Law> laws();

// Checks law 51 after each tick.
void check_tick(Audit& audit, const Result<Tick>& tick, const TickTruth& truth);

// conservation.cpp: sums
void rows_add_up(Audit& audit);
void totals_agree(Audit& audit);
void tree_adds_up(Audit& audit);
void machine_is_meminfo(Audit& audit);
void means_add_up(Audit& audit);
// processes.cpp: peaks, exits and lifetimes
void peaks_agree(Audit& audit);
void exits_are_counted(Audit& audit);
void starts_and_exits_balance(Audit& audit);
void a_life_ends_once(Audit& audit);
void lifetimes_agree(Audit& audit);
// kills.cpp: the OOM killer
void kills_are_counted(Audit& audit);
void victims_are_named(Audit& audit);
// history.cpp: answers over a range
void series_agree(Audit& audit);
void range_covers_its_ticks(Audit& audit);
void diff_is_a_difference(Audit& audit);
void tiers_agree(Audit& audit);
void summary_is_true(Audit& audit);
void recorded_and_gaps_make_the_range(Audit& audit);
void wider_ranges_have_higher_peaks(Audit& audit);
// honesty.cpp: values of rows and their sources
void exact_values_are_true(Audit& audit);
void held_values_are_true(Audit& audit);
void bounds_hold(Audit& audit);
void swap_is_true(Audit& audit);
void sizes_are_ordered(Audit& audit);
// copies.cpp: the same query on copies of the file, in other formats, and repeated
void copies_agree(Audit& audit);
void formats_agree(Audit& audit);
void queries_repeat(Audit& audit);

}  // namespace memoir::world
