#pragma once

// What a machine tells of itself where there are many: a bounded number of series, of the machine, its categories, the
// largest identities and cgroups, what leaks, and the recorder. The same now (textfile.cpp) and of any time
// (openmetrics.cpp). fleet.cpp gathers them, fleet_leaks.cpp the verdicts, which are dear and hold for an hour.
//
// Whoever may ask for the page of an exporter reads them: no command line is in them, only the program's name.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/leak/leak.h"
#include "query/commands/export/families.h"
#include "query/state/command.h"
#include "store/tiers.h"

namespace memoir::query {

// In the order of fleet_families(), after those of the machine and of categories.
enum class FleetOf : std::uint8_t {
  machine_peak,
  category_peak,
  identity_pss,
  identity_rss,
  identity_swap,
  identity_processes,
  identity_peak,
  cgroup_usage,
  cgroup_anon,
  cgroup_file,
  cgroup_swap,
  cgroup_limit,
  cgroup_peak,
  cgroup_oom_kills,
  cgroup_waited,
  oom_kill_at,
  leaks,
  leaks_judged,
  leak_growth,
  leak_growth_items,
  leak_exhaustion,
  leak_confidence,
  recorder_up,
  recorder_info,
  recorder_started,
  recorder_last_tick,
  recorder_interval,
  recorder_late_ticks,
  recorder_cpu,
  recorder_resident,
  database_size,
  database_most,
};
const std::vector<Family>& fleet_families();
std::size_t family_of(FleetOf of);

struct FleetSample {
  std::size_t family = 0;
  std::string labels;
  std::int64_t value = 0;  // as it is stored: the family's scale makes the unit of it
  std::size_t rank = 0;    // of its subject, among the largest of its kind; 0 of what there is one of
};

// The program that a command line begins with: "postgres" of "/usr/lib/postgresql/15/bin/postgres -D …" and of
// "postgres: writer". What follows may be for few eyes.
std::string program_of(std::string_view command);

// Of how many identities, cgroups, categories and leaks each, the largest; and of how many series in all.
inline constexpr std::size_t kFleetRows = 50;
inline constexpr std::size_t kMostFleetSeries = 2000;
std::size_t fleet_rows(const Options& options);

// The leaks as they were found at one time.
struct FleetLeaks {
  std::int64_t judged_ms = 0;
  std::vector<FleetSample> samples;
};
Result<FleetLeaks> judge_leaks(const Context& context, std::int64_t at_ms, const LeakSettings& settings,
                               std::size_t most, const std::string& labels);
// What was found holds on: what is left until a limit is reached becomes less.
void add_leaks(const FleetLeaks& leaks, std::int64_t at_ms, std::vector<FleetSample>& samples);

struct FleetQuestion {
  std::int64_t at_ms = 0;                // a tick; of a rollup the begin of a bucket
  std::optional<std::int64_t> since_ms;  // peaks are of the time since; absent: of the last interval
  std::size_t most = kFleetRows;
  std::string labels;  // that all series have
  Tier tier = {};
  bool now = false;  // what the file is like as well
};

// All of them, in the order of the families, each series once; and how many had to be left out.
struct FleetAnswer {
  std::vector<FleetSample> samples;
  std::size_t left_out = 0;
};
Result<FleetAnswer> fleet_at(const Context& context, const FleetQuestion& question, const FleetLeaks& leaks);
// Of a file that nobody records into any more: the recorder alone, for what was last is no more.
FleetAnswer fleet_at_rest(const Context& context, const FleetQuestion& question);

// Writes them as they are now to the file of --textfile, which is there whole or not at all.
Result<Streamed> write_textfile(const Context& context, const std::string& labels);

}  // namespace memoir::query
