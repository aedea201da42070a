#pragma once

// One series over time. trend.cpp parses the query, series.cpp loads the subject's values, report.cpp renders them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranking.h"
#include "analysis/series.h"
#include "query/args/subject.h"
#include "query/history/history.h"
#include "query/state/command.h"

namespace memoir::query {

struct Series {
  std::string metric;               // as in --by; kPressure: its values are shares in thousandths of a percent
  std::string title;                // "PSS of the category web"
  std::vector<Interval> intervals;  // values in time order
  Exactness exactness = {};
  std::int64_t members = 0;  // number of processes that ran in the range
  std::string subject = {};  // the subject as given
  // If PSS or USS of a process is shown: its RSS, if it was far higher between ticks. Scans and exits do not measure
  // PSS.
  std::optional<Summary> rss_spike = {};
};

// --by pressure: share of the time in which some task of the machine waited for memory.
inline constexpr std::string_view kPressure = "pressure";
inline constexpr std::int64_t kPerPercent = 1000;

struct TrendQuery {
  Range range;
  std::optional<std::int64_t> step_ms;  // --step
  std::int64_t interval_ms = 0;         // finest resolution: the recorder's interval, or the rollups' width
  Tier tier = {};
};

// Values of --by, for the machine and for processes; the default first.
std::vector<std::string> metric_names(SubjectKind kind);

// A subject that matches nothing in the range, or several things, is malformed, and the message lists candidates.
Result<Series> load_series(const Context& context, Subject subject, const TrendQuery& question);

// A row per bucket, for one or several series.
struct SeriesBucket {
  const Series* series = nullptr;
  GridBucket bucket;
  std::optional<GridBucket> other = {};  // --against
};
Table bucket_table(const std::vector<SeriesBucket>& buckets, std::string_view metric, const Coverage& coverage = {},
                   bool against = false);

// Fills the report, which already has the range and its coverage. `other` is the series of --against: the same subject
// in an earlier range, moved to the range of the query.
Status fill_trend(const Context& context, const TrendQuery& question, const Series& series,
                  const std::optional<Series>& other, Report& report);

// Fills the report for several series: a small chart of each above the same times, and their numbers side by side.
Status fill_multiples(const Context& context, const TrendQuery& question, const std::vector<Series>& all,
                      Report& report);

Chart trend_chart(const TrendQuery& question, const Series& series, Zone zone);

inline constexpr std::size_t kMaxSeries = 8;

// Maximum number of buckets: more are the result of a mistaken --step.
inline constexpr std::int64_t kMaxBuckets = 100'000;

}  // namespace memoir::query
