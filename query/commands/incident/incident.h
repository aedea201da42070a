#pragma once

// What happened around a moment. incident.cpp finds the moment, load.cpp sets the machine before, at and after it
// against each other, story.cpp tells it in sentences, evidence.cpp and charts.cpp show what they rest on, report.cpp
// puts it together.
//
// A sum holds: the changes of all parts add up to the change of the machine's memory in use.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "query/state/changes.h"
#include "query/state/command.h"

namespace memoir::query {

// The moment asked after, and why it is that one.
struct Instant {
  enum class Kind { given, oom_kill, pressure, available };

  std::int64_t at_ms = 0;
  Kind kind = Kind::given;
  std::optional<OomVictim> victim = {};            // of an OOM kill, where it was told whom
  std::string counted = {};                        // of one that only counters tell: how they do
  std::optional<double> stalled_percent = {};      // of the pressure
  std::optional<std::int64_t> stalled_ms = {};     // over so long
  std::optional<std::int64_t> available_kib = {};  // of the lowest
};

// What holds a part of the memory in use.
struct Part {
  std::string name;                             // an identity's, or of a part of the machine
  std::string title = {};                       // what people read in its place
  bool of_processes = false;                    // an identity
  bool in_limit = false;                        // in the cgroup whose limit was reached
  std::optional<std::int64_t> before_kib = {};  // absent: it was not there, or nothing tells
  std::optional<std::int64_t> at_kib = {};
  std::optional<std::int64_t> after_kib = {};
  std::int64_t change_kib = 0;  // from before to at
  std::string fate = {};        // "killed 03:14:07, restarted 03:14:12", "began 03:05:00"
  bool killed = false;
};

struct Stall {
  double some_percent = 0;  // of the time some task waited for memory,
  double full_percent = 0;  // and all did
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};

struct Incident {
  Instant instant;
  std::int64_t window_ms = 0;
  Range range = {};  // from before to after
  State before = {};
  State at = {};
  std::optional<State> after = {};  // absent: nothing was recorded after it
  Part machine = {};                // in use
  std::vector<Part> parts = {};     // what concerns the moment most first
  std::vector<OomVictim> victims = {};
  std::vector<Event> events = {};
  std::map<std::string, std::string> containers = {};  // what they are called, by their labels
  std::vector<StoredProcess> processes = {};           // that lived in the range
  std::optional<std::int64_t> counted_kills = {};      // by the machine's counter
  std::int64_t restarts = 0;
  std::optional<Stall> worst = {};  // of the range
  std::string tmpfs_grown = {};     // "/run +0.6 GiB": the mount that grew most
};

// Absent: there is no state to compare.
Result<std::optional<Incident>> load_incident(const Context& context, const Instant& instant, std::int64_t window_ms);

// Of its tick.
std::int64_t time_of(const State& state);

// Who lived at that time with that pid. Null: nobody that is known.
const StoredProcess* process_of(const Incident& incident, const OomVictim& victim);

// "03:14:07"
std::string clock_time(std::int64_t ms, Zone zone);

// "app.service", of "/system.slice/app.service"; "the container shop (docker:3f2a4b5c6d7e)"
std::string place_of(const Incident& incident, const std::string& cgroup);

std::string incident_title(const Incident& incident);
// What happened, in a few sentences. `past`: that the identity that grew most leaked before, or what it held a day and
// a week before.
std::string tell_story(const Context& context, const Incident& incident, const std::string& past);
Result<std::string> tell_past(const Context& context, const Incident& incident, Report& report);

// Tables and lines below the first screen, and the charts of the page.
Status add_evidence(const Context& context, const Incident& incident, Report& report);
Status add_charts(const Context& context, const Incident& incident, Report& report);

Status fill_incident(const Context& context, const Incident& incident, Report& report);

}  // namespace memoir::query
