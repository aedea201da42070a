#pragma once

// Decides which alerts are due, from ticks, leak forecasts and the configuration. Each subject (the cgroup of a kill, a
// cgroup near its limit, a tmpfs mount, the machine) has at most one alert of each kind per `every_ms`; all leaks
// together have one. A leak found within that time is reported later; other conditions are not. A level that was high
// must have been low before its next alert. Pure: the times are those of the ticks, on the boot clock.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tick.h"
#include "recorder/alert/forecast.h"

namespace memoir {

enum class AlertReason : std::uint8_t { oom_kill, pressure, leak, leak_confirmed, limit, tmpfs, swap, count_ };

// Returns the name of a reason: "oom-kill".
std::string_view to_string(AlertReason reason);

// Returns "The OOM killer killed java (812) when app.service reached its 8192 MiB limit; its last RSS was 4800 MiB".
std::string oom_kill_text(const OomVictim& victim);

struct Alert {
  AlertReason reason = AlertReason::oom_kill;
  std::int64_t at_ms = 0;    // wall clock, time of the event
  std::int64_t tick_ms = 0;  // boot clock; the alert runs when all ticks up to this time are stored
  std::string text;          // sentence that describes the alert
  std::string subject{};     // cgroup (empty if unknown), mount point, or title of the first leak
  std::string limit{};       // limit that the first leak will reach; empty if none
};

struct AlertLimits {
  bool on = false;
  std::int64_t pressure_ppm = 0;  // share of a minute in which some process waited; 0: off
  std::int64_t leak_ms = 0;       // time to a limit below which a leak is reported; 0: off
  bool leak_confirmed = false;
  // Levels, in millionths of the limit; 0: off.
  std::int64_t limit_ppm = 0;
  std::int64_t tmpfs_ppm = 0;
  std::int64_t swap_ppm = 0;
  std::int64_t every_ms = 0;
  std::int64_t leak_every_ms = 0;  // minimum time between two alerts for the same leak

  bool operator==(const AlertLimits&) const = default;
};

class AlertRules {
 public:
  void set(const AlertLimits& limits) { limits_ = limits; }

  std::vector<Alert> see(const Tick& tick);
  // Returns the alert for `forecasts` (soonest first), if one is due. `at` is the time of the last tick.
  std::optional<Alert> see(const std::vector<Forecast>& forecasts, const Moment& at);

 private:
  using Times = std::map<std::string, std::int64_t>;

  // Usage of a subject and its limit.
  struct Level {
    std::string subject;
    std::string name;  // name of the level in the alert's text
    std::int64_t used_kib = 0;
    std::int64_t limit_kib = 0;
  };
  using Levels = std::vector<Level>;

  bool rests(const std::optional<std::int64_t>& last_ms, std::int64_t now_ms) const;
  // `unattributed`: the machine's counter includes a kill that no cgroup counted. The alert of this kill waits up to
  // two ticks for the name of the cgroup.
  void add_kills(const Tick& tick, bool unattributed, std::vector<Alert>& due);
  void add_kill(Alert alert, std::vector<Alert>& due);
  bool was_unattributed_kill(const Tick& tick);
  Levels cgroup_levels(const Tick& tick) const;
  static Levels tmpfs_levels(const std::vector<TmpfsSample>& mounts);
  static Levels swap_levels(const MachineMemory& memory);
  void add_levels(AlertReason reason, std::int64_t ppm, const Levels& levels, const Tick& tick,
                  std::vector<Alert>& due);
  std::optional<Alert> leak_alert(AlertReason reason, const std::vector<const Forecast*>& leaks, Times& reported,
                                  const Moment& at);

  AlertLimits limits_;
  std::optional<std::int64_t> pressure_ms_;  // time of the last pressure alert
  std::optional<std::int64_t> leak_ms_;      // time of the last leak alert
  Times kills_ms_;                           // last kill alert of each cgroup, within every_ms
  Times leaks_ms_;                           // last limit alert of each leak, within leak_every_ms
  Times confirmed_ms_;                       // last time at which each reported leak was still confirmed
  std::map<AlertReason, Times> high_;        // last alert of each subject that has not been low since
  std::optional<Alert> unnamed_;             // kill alert that waits for the name of its cgroup
  int unnamed_ticks_ = 0;                    // number of ticks left to wait
  std::optional<std::int64_t> kills_;        // the machine's counter of OOM kills at the last tick that has it
  std::int64_t kills_ahead_ = 0;             // kills that cgroups counted before the machine's counter
};

}  // namespace memoir
