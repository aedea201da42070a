#pragma once

// Which series of the store leak: loaded and judged, and the words that more than one command has for it.

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
  std::string title = {};                // what people read in its place
  std::optional<std::int64_t> pid = {};  // where one process is left of it, or one was all
  // All its processes are gone: since when, and the limit of their cgroup that was nearest then, where known.
  std::optional<std::int64_t> ended_ms = {};
  std::string limit = {};
};

// Identities and the machine's own memory over a range, the judged ones; those without enough history too.
Result<std::vector<LeakRow>> judge_store(const Context& context, Range range, const LeakSettings& settings);

// The same of one identity: its memory, and where it has several processes how many they are. Nothing of one that had
// more than some dozens.
Result<std::vector<LeakRow>> judge_identity(const Context& context, std::int64_t identity_id, Range range,
                                            const LeakSettings& settings);

// How far back is looked where no range is asked for.
inline constexpr std::int64_t kLeakHistoryMs = 30 * 24 * 3600 * std::int64_t{1000};

// --hour, else [leaks] hour of --config or of the configuration in its usual place. One there that cannot be understood
// is a warning.
Result<LeakSettings> leak_settings(const Options& options, std::vector<std::string>& warnings);

struct LeakCounts {
  std::int64_t judged = 0;
  std::int64_t leaks = 0;
  std::int64_t ended = 0;  // of the leaks
  std::int64_t insufficient = 0;
  std::int64_t longest_ms = 0;  // that was recorded of one of these
  std::int64_t needed_ms = 0;
};
LeakCounts count_leaks(const std::vector<LeakRow>& rows);
// "120 series judged, none leaks; 4 have too little history"
std::string print_counts(const LeakCounts& counts);
// ": at most 50 min, where 2 h of one life are needed", or nothing.
std::string print_lack(const LeakCounts& counts);

// Leaves the leaks that have not ended long before the range does: those are history.
void keep_live_leaks(std::vector<LeakRow>& rows, Range range, const LeakSettings& settings);

// Leaks first, of them those that go on, the soonest and the fastest before the others.
void rank_leaks(std::vector<LeakRow>& rows);

// The columns for machines that tell a finding in numbers.
Columns<LeakRow> leak_numbers();

// For people: how fast it grows and since when; how surely, and when it runs out.
void add_slope(Columns<LeakRow>& columns, const Options& options, int least_useful_between);
void add_outlook(Columns<LeakRow>& columns);

// Whether there was enough to judge it by.
bool is_judged(const LeakFinding& found);

// The limit that it runs into, or ran into; nothing if none is known.
Value limit_of(const LeakRow& row);

// "14.2 MiB", "12", "2.5": by the metric's unit.
std::string print_amount(double value, LeakUnit unit, Units units);

// "+14.2 MiB"
std::string signed_amount(double value, LeakUnit unit, Units units);

}  // namespace memoir::query
