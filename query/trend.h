#pragma once

// One series over time. trend.cpp reads the question, trend_series.cpp loads what it is about, trend_report.cpp tells.

#include <optional>
#include <string>
#include <vector>

#include "analysis/ranking.h"
#include "analysis/series.h"
#include "query/command.h"
#include "query/subject.h"

namespace memoir::query {

struct Series {
  std::string metric;           // as in --by
  std::string title;            // "PSS of the category web"
  std::vector<Step> steps;      // in order of time
  std::int64_t unknown_ms = 0;  // time of members whose memory was not known (zombies have none to know)
  std::int64_t inexact_ms = 0;  // time of members whose PSS is not exact
  std::int64_t member_ms = 0;   // time of all members
  std::int64_t members = 0;     // that lived in the range
};

std::string trend_subject(const Options& options);

// What --by may be, of the machine and of processes; the default first.
const std::vector<std::string>& machine_metrics();
const std::vector<std::string>& process_metrics();

// A subject that nothing in the range answers to is malformed, and the message names what there is.
Result<Series> load_series(const Context& context, const Subject& subject, Range range);

struct TrendQuestion {
  Range range;
  std::optional<std::int64_t> step_ms;  // --step
  std::int64_t interval_ms = 0;         // of the recorder: nothing is finer
};

// A row per bucket.
Table bucket_table(const std::vector<Bucket>& buckets);

// Fills the report that holds the range and its coverage.
Status fill_trend(const Context& context, const TrendQuestion& question, const Series& series, Report& report);

}  // namespace memoir::query
