#pragma once

// memoir leaks: who leaks. leaks.cpp reads the question and tells the verdicts; csv.cpp judges a series from elsewhere;
// explain.cpp tells how a verdict came about.

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

// A series from elsewhere: see kCsvForms. Errors name the file and the line.
struct CsvSeries {
  std::vector<LeakSample> samples;  // in order of time
  LeakUnit unit = LeakUnit::kib;
  std::vector<std::string> warnings;
};
inline constexpr std::string_view kCsvForms =
    "a header time_ms,kib[,mean][,life] (or seconds for time_ms, value for kib), or no header and seconds,value[,mean]";
Result<CsvSeries> parse_leak_csv(std::string_view text, std::string_view path);

// The row of a whole file.
Result<LeakRow> judge_csv(const std::string& path, const LeakSettings& settings, std::vector<std::string>& warnings);

// Of one row: the chart with the floors' line, the gates and what would change the verdict.
void explain_leak(const LeakRow& row, const Options& options, const std::optional<Screen>& screen, Report& report);

}  // namespace memoir::query
