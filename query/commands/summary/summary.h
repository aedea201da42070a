#pragma once

// The daily summary. summary.cpp reads the question, load.cpp loads what it needs from the rollups (so that it
// answers for a day of last year as for yesterday), people.cpp finds out about identities and processes,
// leaks.cpp about leaks, report.cpp and its likes tell. summary.cpp keeps a folder of them, too.
//
// Days are local ones: 23 or 25 hours long where the clocks change.

#include <optional>
#include <string>
#include <vector>

#include "analysis/grouping.h"
#include "analysis/rolled.h"
#include "query/args/times.h"
#include "query/leaks/judged_leaks.h"
#include "query/state/command.h"

namespace memoir::query {

inline constexpr int kDaysBefore = 7;

// The machine over one day.
struct MachineDay {
  Day day;
  std::int64_t recorded_ms = 0;
  Figures used;
  Figures available;
  Figures swap;
  std::optional<double> stalled_percent;  // share of the recorded time in which some task waited for memory (PSI some)
  std::optional<double> worst_percent;    // of the bucket with the most
  std::optional<Extremum> worst;          // its value is in µs
  std::optional<std::int64_t> oom_kills;  // absent: the kernel's counter was not recorded

  // Enough of it to compare with other days: half.
  bool comparable() const { return 2 * recorded_ms >= day.end_ms - day.begin_ms; }
};

// What the processes of an identity or a category held together (PSS).
struct Usage {
  std::string name;                 // of an identity what it is sorted under
  std::string title;                // what people read in its place
  std::optional<std::int64_t> pid;  // of an identity that was one process on the day
  std::int64_t most_processes = 0;  // at one time
  Figures pss;
  std::vector<Interval> series;  // over the day
  // Means over hours of which at least half was recorded; 0 where it was not there.
  std::optional<std::int64_t> begin_kib;  // the first of the day
  std::optional<std::int64_t> end_kib;    // and the last
  std::optional<std::int64_t> week_kib;   // the first of the seven days that the day ends
  std::optional<std::int64_t> hwm_kib;    // highest VmHWM of one process, reached on the day

  std::optional<std::int64_t> grown_day() const { return difference(end_kib, begin_kib); }
  std::optional<std::int64_t> grown_week() const { return difference(end_kib, week_kib); }
};

// The high-water mark of one process.
struct ProcessPeak {
  StoredProcess process;
  HighWater mark;
};

// The processes of one identity that ended and were followed by others.
struct Restarted {
  std::string name;
  std::string title;
  std::int64_t times = 0;
  std::int64_t last_ms = 0;             // when the last of them was gone
  std::int64_t lived_ms = 0;            // the last of them
  std::int64_t pause_ms = 0;            // until its successor began
  std::optional<std::int64_t> hwm_kib;  // of the last of them
};

// Who held memory at the moment of a peak of the machine.
struct Holding {
  std::string title;
  std::int64_t kib = 0;
};

struct RecorderDay {
  std::int64_t starts = 0;  // of the recorder
  std::int64_t unclean = 0;
  std::vector<std::int64_t> boots_ms;
  std::optional<double> core_percent;  // absent: its ticks are gone
  std::optional<double> mean_cpu_us;
  Figures pss;
  std::vector<Event> events;
};

struct DaySummary {
  Day day;
  bool over = true;                // the day, or the recording goes on
  Tier tier = Tier::five_minutes;  // of the day's values
  std::int64_t first_ms = 0;       // of what is recorded of the day
  std::int64_t last_ms = 0;
  std::optional<std::int64_t> total_kib;
  std::optional<std::int64_t> swap_total_kib;
  std::vector<MachineDay> days;  // the day is the last
  std::vector<Interval> used;    // over all of them
  std::vector<Interval> swap;
  std::vector<Increase> oom_kills;
  std::vector<Holding> holders;  // at the peak of used
  std::vector<Usage> categories;
  std::vector<Usage> identities;
  std::vector<ProcessPeak> processes;
  std::vector<Restarted> restarts;
  std::int64_t began = 0;  // processes, on the day
  std::int64_t ended = 0;
  std::int64_t shortly = 0;  // of those that ended: lived for less than ten minutes
  RecorderDay recorder;
  std::vector<LeakRow> leaks;  // by the end of the day, ranked
  LeakCounts leak_counts;
  std::vector<std::string> warnings;

  const MachineDay& today() const { return days.back(); }
};

// Loads and computes all. Nothing recorded in the day: absent.
Result<std::optional<DaySummary>> load_summary(const Context& context, Day day);

// Parts of load_summary: everything that is about processes; leaks.
Status load_people(const Context& context, const std::vector<HighWater>& marks, DaySummary& summary);
Status load_leaks(const Context& context, DaySummary& summary);

void fill_summary(const Context& context, const DaySummary& summary, Report& report);

// Parts of fill_summary.

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

std::string summary_lead(const DaySummary& summary, const Options& options);
std::vector<Chart> summary_charts(const DaySummary& summary, Zone zone);
std::vector<std::string> summary_drawing(const DaySummary& summary, const Options& options, std::size_t columns);

// "03:14"
std::string print_minute(std::int64_t ms, Zone zone);
// When it was reached: "03:14", or "03:10 to 03:15" of a bucket.
std::string print_reached(const Extremum& at, Zone zone);

}  // namespace memoir::query
