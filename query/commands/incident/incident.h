#pragma once

// One incident within its scope: the cgroup at its limit, otherwise the machine. incident.cpp finds the time. load.cpp
// compares the machine before, at and after that time, and scope.cpp compares the cgroup. story.cpp writes the
// sentences, brief.cpp the head of a page, and evidence.cpp and charts.cpp the evidence. report.cpp combines them.
//
// The changes of the machine's parts add up to the change of its memory in use. The changes of a cgroup's parts add up
// to the change of its usage.

#include <optional>
#include <string>
#include <vector>

#include "query/incidents/incidents.h"
#include "query/state/changes.h"
#include "query/state/command.h"

namespace memoir::query {

// The time of the incident, and why it was chosen.
struct IncidentTime {
  enum class Kind { given, listed, pressure, available };

  std::int64_t at_ms = 0;
  Kind kind = Kind::given;
  std::optional<IncidentEntry> entry = {};         // set if it is listed
  std::optional<OomVictim> victim = {};            // the victim of a kill, if the kernel reported it
  std::optional<double> stalled_percent = {};      // share of the time in which tasks waited
  std::optional<std::int64_t> stalled_ms = {};     // length of the time to which stalled_percent refers
  std::optional<std::int64_t> available_kib = {};  // minimum of the last day

  bool is_kill() const { return entry && entry->is_kill(); }
};

// A part of the memory in use.
struct Part {
  std::string name;                             // name of an identity or of a part of the machine's memory
  std::string title = {};                       // human-readable name
  bool of_processes = false;                    // the part is an identity
  bool in_limit = false;                        // the part is in the cgroup of the incident
  std::optional<std::int64_t> before_kib = {};  // nullopt: it did not exist, or is unknown
  std::optional<std::int64_t> at_kib = {};
  std::optional<std::int64_t> after_kib = {};
  std::int64_t change_kib = 0;  // at_kib less before_kib
  std::string outcome = {};     // "killed 03:14:07, restarted 03:14:12", "started 03:05:00"
  bool killed = false;
  std::optional<std::int64_t> restarted_ms = {};  // the first start after a kill
};

struct Stall {
  double some_percent = 0;  // share of the time in which some task waited for memory
  double full_percent = 0;  // share of the time in which all tasks waited for memory
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};

// The rise of a cgroup's usage up to the incident.
struct UsageGrowth {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::int64_t from_kib = 0;
  std::int64_t to_kib = 0;

  std::int64_t kib() const { return to_kib - from_kib; }
  std::int64_t ms() const { return to_ms - from_ms; }
  double kib_per_s() const { return static_cast<double>(kib()) * 1000 / static_cast<double>(ms()); }
};

// The cgroup of an incident. Its usage is the kernel's count.
struct Scope {
  std::string cgroup;
  std::string place;                           // "app.service"
  std::optional<std::int64_t> limit_kib = {};  // memory.max, or memory.high for throttling
  std::optional<std::int64_t> usage_kib = {};  // usage in the kernel's log, or else at the last tick
  std::optional<CgroupSample> before = {};     // nullopt: not sampled, or it did not exist
  std::optional<CgroupSample> at = {};
  std::optional<CgroupSample> after = {};
  std::vector<Interval> usage = {};  // usage in the range; empty: not sampled
  std::optional<UsageGrowth> growth = {};
  std::vector<Part> parts = {};  // the first part is the usage; the other parts add up to it
  std::int64_t restarts = 0;
  std::vector<std::int64_t> kills_before = {};  // times of the incidents with kills in the 30 days before
};

struct Incident {
  IncidentTime instant;
  std::int64_t window_ms = 0;
  Range range = {};  // from `before` to `after`; without it, to the incident
  State before = {};
  State at = {};
  std::optional<State> after = {};  // nullopt: nothing was recorded after the incident
  Part machine = {};                // the machine's memory in use
  std::vector<Part> parts = {};     // most relevant first
  std::optional<Scope> scope = {};  // nullopt: the machine
  std::vector<OomVictim> victims = {};
  std::vector<Event> events = {};
  ContainerNames containers = {};
  std::vector<StoredProcess> processes = {};       // processes that ran in the range
  std::int64_t left_out = 0;                       // number of processes in the range that were not loaded
  std::optional<std::int64_t> counted_kills = {};  // number of OOM kills, as in Activity::oom_kills
  std::int64_t restarts = 0;
  std::optional<Stall> worst = {};       // worst stall in the range
  std::string tmpfs_grown = {};          // "/run +0.6 GiB": the mount that grew most
  std::vector<TmpfsAt> full_tmpfs = {};  // nearly full mounts with their largest entries, the fullest first
};

// Returns nullopt if there are no states to compare.
Result<std::optional<Incident>> load_incident(const Context& context, const IncidentTime& instant,
                                              std::int64_t window_ms);

// Returns the process with the victim's pid at that time; nullptr if unknown.
const StoredProcess* process_of(const Incident& incident, const OomVictim& victim);

// Returns the program without its interpreter and directory, short enough for a sentence: "worker.py 3 in api.service".
std::string program_title(const StoredProcess& process);

// "03:14:07"
std::string clock_time(std::int64_t ms, Zone zone);

// Sets the change of a part.
inline void finish(Part& part) {
  part.change_kib = part.at_kib.value_or(0) - part.before_kib.value_or(0);
}

// Loads the cgroup of the incident with its parts, whose titles and outcomes are set later; nullopt for the machine.
Result<std::optional<Scope>> load_scope(const Context& context, const Incident& incident);

// Returns the part that grew most within the scope: the cause, as far as it is known. nullptr if none grew
// significantly.
const Part* first_grown(const Incident& incident);

// Returns the largest entries of a mount, without the mount itself.
std::vector<const TmpfsEntry*> largest_entries(const TmpfsAt& mount, std::size_t most);

std::string incident_title(const Incident& incident);
// Describes the incident in a few sentences. `past` is the result of growth_history(): an earlier leak of the identity
// that grew most, or its usage a day and a week before.
std::string incident_story(const Context& context, const Incident& incident, const std::string& past);
Result<std::string> growth_history(const Context& context, const Incident& incident, Report& report);

// Adds the head of a postmortem for pages: times, impact, detection, trigger, culprit. Adds nothing for a time without
// a listed incident.
void add_brief(const Options& options, const Incident& incident, Report& report);

// Add the tables and lines below the first screen, and the charts of the page.
Status add_evidence(const Context& context, const Incident& incident, Report& report);
Status add_charts(const Context& context, const Incident& incident, Report& report);

Status fill_incident(const Context& context, const Incident& incident, Report& report);

}  // namespace memoir::query
