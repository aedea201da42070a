#pragma once

// Human-readable sizes, durations and coverage.

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

// Returns the unit that `units` names; if automatic, the largest unit that the size reaches.
SizeUnit unit_for(double kib, Units units);

// Returns one unit for all sizes of a table, so that they are comparable: the one that suits their median.
SizeUnit choose_unit(std::vector<std::int64_t> sizes_kib, Units units);

// Formats a size without its unit, for a column with the unit in its header: "1.4". KiB have no fraction.
std::string format_size(std::int64_t kib, SizeUnit unit);

// Formats a size with its unit, for text: "1.4 GiB".
std::string format_size(std::int64_t kib, Units units);

// The same with a sign, "+" for an increase: "+1.4 GiB". 0 has none.
std::string format_change(std::int64_t kib, SizeUnit unit);
std::string format_change(std::int64_t kib, Units units);

// "250 ms", "40 s", "3 min 20 s", "23 h 58 min", "3 d 4 h".
std::string format_span(std::int64_t ms);

// Formats a value with one decimal: "-0.1". Zero has no minus sign: "0.0".
std::string format_decimal(double value);
std::string format_percent(double percent);

// Formats a share of exact values; "all" only if it is 100%.
std::string format_exact_percent(double percent);

// "1 process", "3 processes".
std::string format_count(std::int64_t count, const char* one, const char* many);

// "Recorded 23 h 58 min of 24 h (8628 ticks); 2 gaps, the longest 40 s at 2026-11-20 03:12:00 (killed)."
std::string coverage_line(const Coverage& coverage, Zone zone);

}  // namespace memoir::query
