#pragma once

// One series over time. trend.cpp reads the question, series.cpp loads what it is about, report.cpp tells.

#include <optional>
#include <string>
#include <vector>

#include "analysis/ranking.h"
#include "analysis/series.h"
#include "query/args/subject.h"
#include "query/history/history.h"
#include "query/state/command.h"

namespace memoir::query {

struct Series {
  std::string metric;               // as in --by
  std::string title;                // "PSS of the category web"
  std::vector<Interval> intervals;  // in order of time
  Exactness exactness = {};
  std::int64_t members = 0;  // that lived in the range
  std::string subject = {};  // as asked
};

struct TrendQuestion {
  Range range;
  std::optional<std::int64_t> step_ms;  // --step
  std::int64_t interval_ms = 0;         // of the recorder, or of the rollups: nothing is finer
  Tier tier = {};
};

// What --by may be, of the machine and of processes; the default first.
std::vector<std::string> metric_names(SubjectKind kind);

// A subject that nothing in the range answers to, or several things do, is malformed, and the message names them.
Result<Series> load_series(const Context& context, Subject subject, const TrendQuestion& question);

// A row per bucket, of one series or of several.
struct SeriesBucket {
  const Series* series = nullptr;
  GridBucket bucket;
};
Table bucket_table(const std::vector<SeriesBucket>& buckets);

// Days begin at midnight, and hours at full hours, also where the zone is half an hour off.
// Of buckets of a UTC day the days are those.
std::int64_t trend_origin(const TrendQuestion& question, Zone zone);

// A chart of the series, as wide as the terminal, without its times where they stand below another.
std::vector<std::string> draw_series(const Context& context, const TrendQuestion& question, const Series& series,
                                     int rows, bool with_times);

// Fills the report that holds the range and its coverage.
Status fill_trend(const Context& context, const TrendQuestion& question, const Series& series, Report& report);

// The same of several: a small chart of each with the same times below, and their numbers beside each other.
Status fill_multiples(const Context& context, const TrendQuestion& question, const std::vector<Series>& all,
                      Report& report);

inline constexpr std::size_t kMostSeries = 8;

// More buckets than anybody reads are a mistaken --step.
inline constexpr std::int64_t kMostBuckets = 100'000;

}  // namespace memoir::query
