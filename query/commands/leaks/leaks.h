#pragma once

// memoir leaks: finds leaks. leaks.cpp parses the query and shows the verdicts; csv.cpp judges a series from a file;
// explain.cpp explains a verdict.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/leak/samples.h"
#include "base/result.h"
#include "query/leaks/judged_leaks.h"
#include "query/report/report.h"
#include "query/state/command.h"

namespace memoir::query {

// A series from a file: see kCsvForms. Errors name the file and the line.
struct CsvSeries {
  std::vector<LeakSample> samples;  // samples in time order
  LeakUnit unit = LeakUnit::kib;
  std::vector<std::string> warnings;
};
inline constexpr std::string_view kCsvForms =
    "a header time_ms,kib[,mean][,life] (or seconds for time_ms, value for kib), or no header and seconds,value[,mean]";
Result<CsvSeries> parse_leak_csv(std::string_view text, std::string_view path);

// Judges a whole file. `limit` is in the unit of the file.
Result<LeakRow> judge_csv(const std::string& path, const LeakSettings& settings, std::optional<double> limit,
                          std::vector<std::string>& warnings);

// Explains one row: the chart with the line of the floors, the gates, and what would change the verdict.
void explain_leak(const LeakRow& row, const Options& options, const std::optional<Screen>& screen, Report& report);

}  // namespace memoir::query
