#pragma once

// The series of a machine in a fleet, limited in number: the machine, its categories, the largest identities and
// cgroups, leaks, and the recorder. They are the same for the current time (textfile.cpp) and for any time
// (openmetrics.cpp). fleet.cpp selects them. fleet_leaks.cpp adds the verdicts on leaks, which are expensive and valid
// for an hour.
//
// All users with access to an exporter's page can read them, so they contain no command lines, only the program's name.

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

// Families in the order of fleet_families(), where they follow the families of the machine and of categories.
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
  std::int64_t value = 0;  // as stored: the family's scale converts it
  std::size_t rank = 0;    // rank of its subject among its kind, the largest first; 0 for single subjects
};

// Returns the program at the start of a command line: "postgres" for "/usr/lib/postgresql/15/bin/postgres -D …" and for
// "postgres: writer". The arguments may be confidential.
std::string program_of(std::string_view command);

// Only the largest identities, cgroups, categories and leaks are exported: at most kFleetRows of each, and at most
// kMaxFleetSeries series in total.
inline constexpr std::size_t kFleetRows = 50;
inline constexpr std::size_t kMaxFleetSeries = 2000;
std::size_t fleet_rows(const Options& options);

// The leaks found at one time.
struct FleetLeaks {
  std::int64_t judged_ms = 0;
  std::vector<FleetSample> samples;
};
Result<FleetLeaks> judge_leaks(const Context& context, std::int64_t at_ms, const LeakSettings& settings,
                               std::size_t most, const std::string& labels);
// Adds leaks judged earlier. Reduces their time until a limit by the time since `judged_ms`.
void add_leaks(const FleetLeaks& leaks, std::int64_t at_ms, std::vector<FleetSample>& samples);

struct FleetQuery {
  std::int64_t at_ms = 0;                // a tick; for a rollup the start of a bucket
  std::optional<std::int64_t> since_ms;  // peaks cover the time since; nullopt: the last interval
  std::size_t most = kFleetRows;
  std::string labels;  // labels of all series
  Tier tier = {};
  bool now = false;  // true: include the state of the file
};

// All series in the order of the families, each once, and the number of omitted ones.
struct FleetAnswer {
  std::vector<FleetSample> samples;
  std::size_t left_out = 0;
};
Result<FleetAnswer> fleet_at(const Context& context, const FleetQuery& question, const FleetLeaks& leaks);
// Returns only the recorder's own series, for a file without a recorder: the last values are out of date.
FleetAnswer fleet_at_rest(const Context& context, const FleetQuery& question);

// Writes the current values to the file of --textfile, which appears completely or not at all.
Result<Streamed> write_textfile(const Context& context, const std::string& labels);

}  // namespace memoir::query
