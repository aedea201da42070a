#pragma once

// The list of incidents: what happened to memory in a range, one entry each. Every command that names, counts or shows
// incidents uses this list.
//
// Kills and incidents at limits come from events, and are kept as long as events are. Other kinds are derived from the
// machine's rollups.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/state/command.h"

namespace memoir::query {

enum class IncidentKind : std::uint8_t {
  oom_kill,   // kills by the kernel; those in one cgroup within ten minutes are one incident
  user_kill,  // kills by a killer in user space
  pressure,   // tasks waited for memory for minutes
  swap,       // swap was exhausted
  tmpfs,      // a tmpfs was full
  limit,      // a cgroup reached memory.max, without a kill
  throttled,  // a cgroup reached memory.high
  growth,     // memory in use grew fast, without a kill
};

// "oom-kill", "killer", "pressure" …
std::string_view to_string(IncidentKind kind);
const std::vector<std::string>& incident_kinds();

struct IncidentEntry {
  std::int64_t number = 0;  // number in the list, where 1 is the latest; 0 without a list
  IncidentKind kind = IncidentKind::oom_kill;
  std::int64_t at_ms = 0;                      // the time that `memoir incident` explains
  std::int64_t from_ms = 0;                    // time of the first kill, or the start
  std::int64_t to_ms = 0;                      // time of the last kill, or the end
  std::string cgroup = {};                     // cgroup at its limit, or of the victim; empty: the machine, or unknown
  std::string tmpfs = {};                      // mount point of the full tmpfs
  std::string place = {};                      // human-readable: "app.service", "the machine", "/run"
  std::string text = {};                       // a sentence without a time and without a full stop
  std::int64_t kills = 0;                      // number of killed processes, by the kernel's counters or the reports
  std::optional<std::int64_t> limit_kib = {};  // limit of the cgroup or tmpfs, or size of the swap or the machine
  std::optional<std::int64_t> usage_kib = {};  // highest usage under this limit
  std::vector<OomVictim> victims = {};         // sorted by time
  std::optional<std::size_t> victim = {};      // index of the victim to show: the one chosen for the last kill
  std::optional<OomScope> scope = {};          // scope of a kill by the kernel; nullopt: unknown

  bool is_kill() const { return kind == IncidentKind::oom_kill || kind == IncidentKind::user_kill; }
  const OomVictim* shown_victim() const { return victim ? &victims[*victim] : nullptr; }
};

// Returns all incidents that overlap the range, the latest first. Numbers count back from the end of the recording, so
// an incident has the same number for each range.
Result<std::vector<IncidentEntry>> load_incidents(const Context& context, Range range);

// Returns only the kills, without numbers, at a fraction of the cost.
Result<std::vector<IncidentEntry>> load_kill_incidents(const Context& context, Range range);

// Kills within this time of each other count as simultaneous.
inline constexpr std::int64_t kSameMomentMs = 1'000;

// Returns the incident nearest to a time, with its victim nearest to that time. If several incidents are equally near,
// returns the one with the largest victim.
std::optional<IncidentEntry> nearest_incident(std::vector<IncidentEntry> incidents, std::int64_t at_ms);

// Returns the incident that explains a time given to the second, without a number; nullopt if there is none. Kills take
// precedence.
Result<std::optional<IncidentEntry>> incident_at(const Context& context, std::int64_t at_ms);

// "memoir incident --at @1795046400000": the command that shows the incident as long as it is recorded.
std::string command_of(const IncidentEntry& entry);

// Keeps the incidents of a subject: a service, container, user, program or PID. A subject without an incident is
// ErrorKind::not_found.
Result<std::vector<IncidentEntry>> incidents_of(const Context& context, std::vector<IncidentEntry> incidents,
                                                const std::string& subject);

// Names of containers, by their labels.
using ContainerNames = std::map<std::string, std::string>;

// "app.service" for "/system.slice/app.service"; "the container shop (docker:3f2a4b5c6d7e)"; "the root cgroup".
std::string place_name(const std::string& cgroup, const ContainerNames& containers);

// Returns the sentence of model/kill_text.h, with the names of containers.
std::string kill_sentence(const OomVictim& victim, const ContainerNames& containers, Units units);

}  // namespace memoir::query
