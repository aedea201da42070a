#pragma once

// Series of the store, loaded and judged for leaks, and texts about them that several commands share.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/leak/leak.h"
#include "base/result.h"
#include "query/report/report.h"
#include "query/state/command.h"

namespace memoir::query {

struct LeakRow {
  std::string subject;             // an identity's normalised command, "machine", or the name of a file
  std::string unit;                // the systemd unit, if there is one
  std::vector<std::int32_t> pids;  // pids of its processes, the newest last
  LeakMetric metric;
  LeakSeries series;
  LeakFinding finding;
  std::string title = {};                // human-readable name
  std::optional<std::int64_t> pid = {};  // set if one process remains, or there was only one
  // Set if all its processes have exited: the time of the last exit, and the nearest limit of their cgroup at that time
  // (empty if unknown).
  std::optional<std::int64_t> exited_ms = {};
  std::string limit = {};
  std::optional<std::int64_t> identity_id = {};  // nullopt: a series of the machine, or of a file
};

// Judged identities and the machine's own memory over a range, including series without enough history.
struct JudgedLeaks {
  std::vector<LeakRow> rows;
  std::int64_t brief = 0;  // identities left out if there are more than 20,000: they ran for less than 10 minutes
};
Result<JudgedLeaks> judge_store(const Context& context, Range range, const LeakSettings& settings);

// Judges one identity: its memory and, if several of its processes ran at a time, their number. Returns no rows if it
// had more than 64 processes.
Result<std::vector<LeakRow>> judge_identity(const Context& context, std::int64_t identity_id, Range range,
                                            const LeakSettings& settings);

// Default length of the history.
inline constexpr std::int64_t kLeakHistoryMs = 30 * 24 * 3600 * std::int64_t{1000};

// Returns --hour, or else [leaks] hour of --config or of the default configuration. A default configuration that cannot
// be parsed causes a warning.
Result<LeakSettings> leak_settings(const Options& options, std::vector<std::string>& warnings);

struct LeakCounts {
  std::int64_t judged = 0;
  std::int64_t leaks = 0;
  std::int64_t ended = 0;  // leaks whose processes have exited
  std::int64_t insufficient = 0;
  std::int64_t longest_ms = 0;  // longest recorded time of a series without enough history
  std::int64_t needed_ms = 0;
  std::int64_t brief = 0;  // identities left out, see JudgedLeaks
};
LeakCounts count_leaks(const JudgedLeaks& judged);

// The rows that keep_live_leaks() would keep, found at a fraction of the cost, and the counts of all series.
struct LiveLeaks {
  std::vector<LeakRow> rows;
  LeakCounts counts;
};
Result<LiveLeaks> judge_live_leaks(const Context& context, Range range, const LeakSettings& settings);

// "120 series judged, none leaks; 4 have too little history"
std::string format_counts(const LeakCounts& counts);
// ": at most 50 min, where 2 h of one run are needed"; empty if no series lacks history.
std::string format_lack(const LeakCounts& counts);

// Keeps only leaks that lasted until the last 25 hours of the range (LeakSettings::hour_ms).
void keep_live_leaks(std::vector<LeakRow>& rows, Range range, const LeakSettings& settings);

// Sorts leaks before other verdicts, and ongoing leaks before ended ones. Within these, sorts by the time until a
// limit, the soonest first, and then by growth, the fastest first.
void rank_leaks(std::vector<LeakRow>& rows);

// Returns the machine-readable columns with the numbers of a finding.
Columns<LeakRow> leak_numbers();

// Add human-readable columns. add_slope(): rate and start. add_outlook(): how often such verdicts are right, and the
// time until the limit.
void add_slope(Columns<LeakRow>& columns, const Options& options, int drop_order_between);
void add_outlook(Columns<LeakRow>& columns);

// Returns whether there was enough history for a verdict.
bool is_judged(const LeakFinding& found);

// Returns the limit that the series will reach or has reached; null if none is known.
Value limit_of(const LeakRow& row);

// "14.2 MiB", "12", "2.5": by the metric's unit.
std::string format_amount(double value, LeakUnit unit, Units units);

// "+14.2 MiB"
std::string signed_amount(double value, LeakUnit unit, Units units);

}  // namespace memoir::query
