#pragma once

// What the files that tell the summary have in common.

#include <optional>
#include <string>
#include <vector>

#include "query/commands/summary/summary.h"
#include "query/report/report.h"

namespace memoir::query {

// Of the time: what is less is shown as 0.0%.
inline constexpr double kNoteworthyStallPercent = 0.05;

// The day and those before it; everything below that.
Table summary_days(const DaySummary& summary, Zone zone);
std::vector<Section> summary_sections(const DaySummary& summary, const Options& options);
Section leak_section(const DaySummary& summary, const Options& options);
// " Leaks: nginx, 14 MiB a day.", or nothing.
std::string leak_sentence(const DaySummary& summary, const Options& options);

inline Value kib_of(const std::optional<Extremum>& extremum) {
  return extremum ? extremum->value : Value();
}

inline Value ms_of(const std::optional<Extremum>& extremum) {
  return extremum ? extremum->from_ms : Value();
}

}  // namespace memoir::query
