#pragma once

// Leaking series of the store: loaded and judged, with the phrases shared by several commands.

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
  std::string subject;             // an identity's normalised command, "machine", a file
  std::string unit;                // the systemd unit, if there is one
  std::vector<std::int32_t> pids;  // the newest last
  LeakMetric metric;
  LeakSeries series;
  LeakFinding finding;
  std::string title = {};                // human-readable name
  std::optional<std::int64_t> pid = {};  // if one process remains, or there was only one
  // All its processes have exited: since when, and the nearest limit of their cgroup at that time, if known.
  std::optional<std::int64_t> exited_ms = {};
  std::string limit = {};
  std::optional<std::int64_t> identity_id = {};  // nullopt: of the machine
};

// Judges identities and the machine's own memory over a range; includes those without enough history.
struct JudgedLeaks {
  std::vector<LeakRow> rows;
  std::int64_t brief = 0;  // identities that ran for less than 10 minutes, left out where there are more than 20,000
};
Result<JudgedLeaks> judge_store(const Context& context, Range range, const LeakSettings& settings);

// The same for one identity: its memory and, if it has several processes, their number. Nothing for one with more than
// some dozens.
Result<std::vector<LeakRow>> judge_identity(const Context& context, std::int64_t identity_id, Range range,
                                            const LeakSettings& settings);

// Default length of the history.
inline constexpr std::int64_t kLeakHistoryMs = 30 * 24 * 3600 * std::int64_t{1000};

// --hour, otherwise [leaks] hour of --config or of the default configuration. An unreadable default one causes a
// warning.
Result<LeakSettings> leak_settings(const Options& options, std::vector<std::string>& warnings);

struct LeakCounts {
  std::int64_t judged = 0;
  std::int64_t leaks = 0;
  std::int64_t ended = 0;  // of the leaks
  std::int64_t insufficient = 0;
  std::int64_t longest_ms = 0;  // longest recorded time of one of these
  std::int64_t needed_ms = 0;
  std::int64_t brief = 0;  // left out
};
LeakCounts count_leaks(const JudgedLeaks& judged);

// The same leaks without the rows that keep_live_leaks drops, at a fraction of the cost; the counts are of all.
struct LiveLeaks {
  std::vector<LeakRow> rows;
  LeakCounts counts;
};
Result<LiveLeaks> judge_live_leaks(const Context& context, Range range, const LeakSettings& settings);

// "120 series judged, none leaks; 4 have too little history"
std::string format_counts(const LeakCounts& counts);
// ": at most 50 min, where 2 h of one life are needed"; empty if no series lacks history.
std::string format_lack(const LeakCounts& counts);

// Keeps the leaks that have not ended long before the end of the range: older ones are history.
void keep_live_leaks(std::vector<LeakRow>& rows, Range range, const LeakSettings& settings);

// Leaks first; among them the ongoing ones, the soonest and the fastest first.
void rank_leaks(std::vector<LeakRow>& rows);

// The machine-readable columns with the numbers of a finding.
Columns<LeakRow> leak_numbers();

// Human-readable columns: add_slope() adds rate and start, add_outlook() how often such verdicts are right and the time
// until the limit.
void add_slope(Columns<LeakRow>& columns, const Options& options, int drop_order_between);
void add_outlook(Columns<LeakRow>& columns);

// Returns whether there was enough history to judge it.
bool is_judged(const LeakFinding& found);

// The limit that it will reach or reached; null if none is known.
Value limit_of(const LeakRow& row);

// "14.2 MiB", "12", "2.5": by the metric's unit.
std::string format_amount(double value, LeakUnit unit, Units units);

// "+14.2 MiB"
std::string signed_amount(double value, LeakUnit unit, Units units);

}  // namespace memoir::query
