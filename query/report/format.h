#pragma once

// Sizes, durations and what is covered as people read them.

#include <cstdint>
#include <string>
#include <vector>

#include "query/args/options.h"
#include "query/report/report.h"

namespace memoir::query {

struct SizeUnit {
  const char* name;  // "MiB"
  std::int64_t kib;
};

// What `units` says; else the largest that the size reaches.
SizeUnit unit_for(double kib, Units units);

// One unit for all the sizes of a table, so that they compare at a glance: the one that suits the middle of them.
SizeUnit choose_unit(std::vector<std::int64_t> sizes_kib, Units units);

// Without its unit, for a column whose header names it: "1.4"; KiB without a fraction.
std::string print_size(std::int64_t kib, SizeUnit unit);

// With a unit of its own, for text: "1.4 GiB".
std::string print_size(std::int64_t kib, Units units);

// The same with a sign, "+" for more: "+1.4 GiB". Nothing has none.
std::string print_change(std::int64_t kib, SizeUnit unit);
std::string print_change(std::int64_t kib, Units units);

// "250 ms", "40 s", "3 min 20 s", "23 h 58 min", "3 d 4 h".
std::string print_span(std::int64_t ms);

// With one decimal, and nothing is never less than that: "-0.1", "0.0".
std::string print_decimal(double value);
std::string print_percent(double percent);

// Of how much is exact: "all" only where it is all.
std::string print_exact(double percent);

// "1 process", "3 processes".
std::string print_count(std::int64_t count, const char* one, const char* many);

// "Recorded 23 h 58 min of 24 h (8628 ticks); 2 gaps, the longest 40 s at 2026-11-20 03:12:00 (killed)."
std::string coverage_line(const Coverage& coverage, Zone zone);

}  // namespace memoir::query
