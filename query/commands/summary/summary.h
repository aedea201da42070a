#pragma once

// The summary of a day or a week. summary.cpp parses the query. load.cpp loads the rollups, so that a day of last year
// works as well as yesterday; groups.cpp, processes.cpp and leaks.cpp load more. attention.cpp finds what needs
// attention. report.cpp and others render the result. summary.cpp also keeps a folder of summaries; hosts.cpp compares
// several files.
//
// Days are local ones: 23 or 25 hours long if the clock changes.

#include <optional>
#include <string>
#include <vector>

#include "analysis/grouping.h"
#include "analysis/span_stats.h"
#include "query/args/times.h"
#include "query/leaks/judged_leaks.h"
#include "query/state/command.h"
#include "store/activity.h"

namespace memoir::query {

inline constexpr int kDaysBefore = 7;

// Format of times of day. In a summary of a week, it includes the weekday.
struct Stamp {
  Stamp(Zone of, bool with_weekday = false) : zone(of), weekday(with_weekday) {}

  Zone zone;
  bool weekday;
};

struct MachineDay {
  Day day;
  std::int64_t recorded_ms = 0;
  SpanStats used;
  SpanStats available;
  SpanStats swap;
  std::optional<double> stalled_percent;  // share of the recorded time in which some task waited for memory (PSI some)
  std::optional<double> worst_percent;    // highest share in one bucket
  std::optional<Extremum> worst;          // bucket of worst_percent; its value is the stalled time in µs
  std::optional<Activity> activity;       // nullopt: only rollups that are too wide remain

  std::optional<std::int64_t> oom_kills() const { return activity ? activity->oom_kills : std::nullopt; }

  // Returns whether at least half of the day was recorded, which is enough to compare it with other days.
  bool comparable() const { return 2 * recorded_ms >= day.end_ms - day.begin_ms; }
};

// Total memory (PSS) of the processes of an identity or a category.
struct Usage {
  std::string name;                 // category, or the sort key of an identity
  std::string title;                // human-readable name
  std::optional<std::int64_t> pid;  // set if the identity was a single process on the day
  std::int64_t max_processes = 0;   // maximum number of processes at one time
  SpanStats pss;
  std::vector<Interval> series;  // PSS over the day
  // Means over one hour, of which at least half was recorded. An absent subject counts as 0.
  std::optional<std::int64_t> begin_kib;  // the first hour of the day
  std::optional<std::int64_t> end_kib;    // the last hour of the day
  std::optional<std::int64_t> week_kib;   // the first hour of the seven days ending with this day
  std::optional<std::int64_t> hwm_kib;    // highest VmHWM of one process, reached on the day
  std::string program = {};               // for an identity: its unit and executable
  std::int64_t folded = 0;                // brief identities of one program that this row adds up; 0: not a sum

  std::optional<std::int64_t> grown_day() const { return difference(end_kib, begin_kib); }
  std::optional<std::int64_t> grown_week() const { return difference(end_kib, week_kib); }
};

struct ProcessPeak {
  StoredProcess process;
  HighWater mark;
};

// The processes of one identity that exited and were followed by others.
struct Restarted {
  std::string name;
  std::string title;
  std::int64_t times = 0;
  std::int64_t last_ms = 0;             // last exit that was followed by a start
  std::int64_t lived_ms = 0;            // lifetime of the process that exited then
  std::int64_t pause_ms = 0;            // time from its last observation to the next start
  std::optional<std::int64_t> hwm_kib;  // VmHWM of the process that exited then
  bool is_service = false;              // started by a service manager, not a worker of a pool or a repeated command
};

// A service that was started again and again, each time after a short run.
struct RestartLoop {
  std::string title;
  std::int64_t times = 0;
  std::int64_t first_ms = 0;  // the first start
  std::int64_t last_ms = 0;   // the last start
};

// A memory user at the time of a peak of the machine.
struct Holding {
  std::string title;
  std::int64_t kib = 0;
};

struct RecorderDay {
  std::int64_t starts = 0;  // how often the recorder started
  std::int64_t unclean = 0;
  std::vector<std::int64_t> boots_ms;
  std::optional<double> core_percent;  // CPU time in percent of one core; nullopt: the ticks have expired
  std::optional<double> mean_cpu_us;
  SpanStats pss;
  std::vector<Event> events;
};

// Something that needs attention.
struct Concern {
  std::string kind;                        // as in incidents; "near-limit", "tmpfs", "leak", "restarts", …
  std::string subject = {};                // cgroup, mount point, program; empty for the machine
  std::string text = {};                   // a sentence
  std::string command = {};                // a memoir command that shows it
  std::optional<std::int64_t> at_ms = {};  // when it happened, or was worst
  std::optional<std::int64_t> value_kib = {};
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> runs_out_ms = {};  // when a limit will be reached
  Tone tone = Tone::warning;
};

struct DaySummary {
  Day day;                         // the day, or the whole week
  std::vector<Day> parts;          // the days of a week
  bool over = true;                // false: the day has not ended yet
  Tier tier = Tier::five_minutes;  // source of the day's values
  std::int64_t first_ms = 0;       // first recorded time of the day
  std::int64_t last_ms = 0;
  std::optional<std::int64_t> total_kib;
  std::optional<std::int64_t> swap_total_kib;
  std::vector<MachineDay> days;       // the previous days, for comparison, and this day (or week) last
  std::vector<MachineDay> week_days;  // the days of a week; empty for one day
  std::vector<Interval> used;         // memory in use over all these days
  std::vector<Interval> swap;
  std::vector<ActivityBucket> oom_kills;  // buckets with a kill
  std::vector<Holding> holders;           // memory users at the peak of `used`
  std::vector<Usage> categories;
  std::vector<Usage> identities;
  std::vector<ProcessPeak> processes;
  std::vector<Restarted> restarts;
  std::vector<RestartLoop> loops;
  RecorderDay recorder;
  std::vector<LeakRow> leaks;  // leaks at the end of the day, ranked
  LeakCounts leak_counts;
  std::vector<Concern> attention;
  bool limits_known = true;  // false: the ticks have expired, and with them usage of cgroups and tmpfs
  std::vector<std::string> warnings;

  bool dull() const { return attention.empty(); }
  bool is_week() const { return !parts.empty(); }
  const MachineDay& today() const { return days.back(); }
};

// Returns the seven days that end with `day`.
std::vector<Day> week_until(const Day& day, Zone zone);

// Loads the data of a summary. `parts` has the days of a week; it is empty for one day. Returns nullopt if nothing was
// recorded.
Result<std::optional<DaySummary>> load_summary(const Context& context, Day day, std::vector<Day> parts = {});

// Parts of load_summary(): load the memory of categories and identities, then their processes, then leaks.
Status load_groups(const Context& context, DaySummary& summary);
Status load_day_processes(const Context& context, DaySummary& summary);
Status load_leaks(const Context& context, DaySummary& summary);
// Finds what needs attention, after the other parts have been loaded.
Status find_attention(const Context& context, DaySummary& summary);
// Compares each hour of the day with the same hour in the four weeks before, and adds a concern if memory was outside
// their range.
Status add_unusual(const Context& context, DaySummary& summary);

// Returns whether the mark was reached on that day.
bool reached_on(const HighWater& mark, const Day& day);

// If `whole`, even a dull day gets all its figures.
void fill_summary(const Context& context, const DaySummary& summary, bool whole, Report& report);

// Returns a report with one line for each host, from several files.
Result<Report> summarise_hosts(const Options& options, std::int64_t now_ms);

// Parts of fill_summary.

// Smaller shares of time are shown as 0.0%.
inline constexpr double kNoteworthyStallPercent = 0.05;

// Returns the day and the previous days; for a week, its days and the week. `all` includes days before the first
// recording.
std::vector<MachineDay> shown_days(const DaySummary& summary, bool all = false);
// Returns these days as a table.
Table summary_days(const DaySummary& summary, const Options& options);
// Returns the table of what needs attention.
Section attention_section(const std::vector<Concern>& attention);
std::vector<Section> summary_sections(const DaySummary& summary, const Options& options);
Section leak_section(const DaySummary& summary, const Options& options);
// " Leaks: nginx, 14 MiB a day."; empty without leaks.
std::string leak_sentence(const DaySummary& summary, const Options& options);

inline Value kib_of(const std::optional<Extremum>& extremum) {
  return extremum ? extremum->value : Value();
}

inline Value ms_of(const std::optional<Extremum>& extremum) {
  return extremum ? extremum->from_ms : Value();
}

std::string summary_lead(const DaySummary& summary, const Options& options);
// The lead of a dull day, on one line of 80 columns.
std::string dull_lead(const DaySummary& summary, const Options& options);
std::vector<Chart> summary_charts(const DaySummary& summary, Zone zone);
std::vector<std::string> summary_drawing(const DaySummary& summary, const Options& options, std::size_t columns);

// "03:14", "Thu 03:14"
std::string format_minute(std::int64_t ms, Stamp stamp);
// Returns when an extreme was reached: "03:14", or "03:10 to 03:15" for a bucket.
std::string format_reached(const Extremum& at, Stamp stamp);
// "Thu"
std::string format_weekday(const Civil& at);

}  // namespace memoir::query
