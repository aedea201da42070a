#include "world/audit/laws.h"

#include <array>

namespace memoir::world {

std::span<const Law> laws() {
  static constexpr std::array kLaws{
      Law{0, "Every query succeeds"},
      Law{1, "Rows add up to the totals, by process and by group; shown and cut rows are all", rows_add_up},
      Law{2, "top, tree and memory show the same PSS", totals_agree},
      Law{3, "A node of the tree is the sum of itself and its children", tree_adds_up},
      Law{4, "The machine's values are those of meminfo at that tick", machine_is_meminfo},
      Law{10, "Means over a range add up to the mean of the sum", means_add_up},
      Law{11, "A process has the same peak in all answers, and they have the same processes", peaks_agree},
      Law{12, "exits counts the reported exits, by any group", exits_are_counted},
      Law{13, "All answers have the same number of OOM kills: the increase of the kernel's counter", kills_are_counted},
      Law{14, "The victim of a kill is named by its pid, comm and command", victims_are_named},
      Law{15, "Started − exited = alive at the end − alive at the start", starts_and_exits_balance},
      Law{16, "A process exits once; its earlier images are execed", a_life_ends_once},
      Law{17, "processes and exits have the same lifetime", lifetimes_agree},
      Law{18, "trend, top over a range and peaks have the same maximum of a subject", series_agree},
      Law{19, "top over a range has all processes of its ticks, and no maximum below their values",
          range_covers_its_ticks},
      Law{20, "diff is the difference of two tops", diff_is_a_difference},
      Law{21, "All tiers have the same minimum, maximum, last value and mean", tiers_agree},
      Law{24, "The highest usage of a day is true in all answers", summary_is_true},
      Law{27, "A backup and a complete extract give the same answers as the file", copies_agree},
      Law{29, "CSV has the values of JSON", formats_agree},
      Law{31, "An exact value was true when it was read", exact_values_are_true},
      Law{32, "A held value is true now, except for changes too small to cause a read", held_values_are_true},
      Law{33, "PSS is within its bounds, from any source", bounds_hold},
      Law{36, "The swap of a row is true, with the shared part, or unknown", swap_is_true},
      Law{40, "USS ≤ PSS ≤ RSS ≤ high-water mark ≥ every sample", sizes_are_ordered},
      Law{41, "A wider range has no lower peak; --limit N has the first N rows", wider_ranges_have_higher_peaks},
      Law{42, "Recorded time and gaps add up to the range", recorded_and_gaps_make_the_range},
      Law{51, "An odd line affects only its own field"},
      Law{60, "The same query has the same answer", queries_repeat},
  };
  return kLaws;
}

}  // namespace memoir::world
