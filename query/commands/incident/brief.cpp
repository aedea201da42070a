// The head of a postmortem, as far as it can be derived from the recording: times, impact, detection, trigger, culprit.

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/incident/incident.h"
#include "query/report/format.h"
#include "query/state/tmpfs.h"

namespace memoir::query {
namespace {

constexpr double kNoteworthyStallPercent = 5;
constexpr std::int64_t kMinuteMs = 60'000;

bool is_own(const Incident& incident, const OomVictim& victim) {
  return victim.killed() && (!incident.scope || is_in_cgroup(victim.cgroup, incident.scope->cgroup));
}

const std::vector<Part>& own_parts(const Incident& incident) {
  return incident.scope && !incident.scope->parts.empty() ? incident.scope->parts : incident.parts;
}

// Returns the first start of a killed program after its kill; nullopt if there is none.
std::optional<std::int64_t> restarted_ms(const Incident& incident) {
  std::optional<std::int64_t> first;
  for (const Part& part : own_parts(incident)) {
    if (part.restarted_ms) first = std::min(first.value_or(*part.restarted_ms), *part.restarted_ms);
  }
  return first;
}

// Returns ", UTC+02:00"; empty if the times name their zone.
std::string zone_offset(std::int64_t ms, Zone zone) {
  if (zone == Zone::utc) return {};
  const std::int64_t second_ms = ms - ms % 1000;
  const std::int64_t minutes = (moments_of(to_civil(second_ms, zone), Zone::utc).front() - second_ms) / kMinuteMs;
  const std::int64_t size = std::abs(minutes);
  return fmt::format(", UTC{}{:02}:{:02}", minutes < 0 ? '-' : '+', size / 60, size % 60);
}

std::string tell_times(const Incident& incident, Zone zone) {
  const IncidentTime& instant = incident.instant;
  const IncidentEntry& entry = *instant.entry;
  std::int64_t from_ms = std::min(entry.from_ms, instant.at_ms);
  std::int64_t to_ms = std::max(entry.to_ms, instant.at_ms);
  std::string steps;
  const auto add = [&](const char* what, std::int64_t ms) {
    steps += fmt::format("{}{} {}", steps.empty() ? ": " : ", ", what, clock_time(ms, zone));
    from_ms = std::min(from_ms, ms);
    to_ms = std::max(to_ms, ms);
  };
  if (incident.scope && incident.scope->growth) add("growth from", incident.scope->growth->from_ms);
  if (instant.is_kill()) add("killed", instant.at_ms);
  const auto again_ms = instant.is_kill() ? restarted_ms(incident) : std::nullopt;
  if (again_ms) add("restarted", *again_ms);
  const std::string span = to_ms - from_ms < 1000 ? "" : ", " + format_span(to_ms - from_ms);
  return format_within(from_ms, to_ms, zone) + zone_offset(from_ms, zone) + span + steps;
}

std::string tell_impact(const Incident& incident, Zone zone) {
  const IncidentTime& instant = incident.instant;
  std::string text;
  if (instant.is_kill()) {
    const std::int64_t killed = std::max<std::int64_t>(
        std::ranges::count_if(incident.victims, [&](const OomVictim& of) { return is_own(incident, of); }),
        instant.entry->kills);
    const auto again_ms = restarted_ms(incident);
    text = fmt::format("{} killed{}, {}", format_count(killed, "process", "processes"),
                       incident.scope ? " in " + incident.scope->place : "",
                       again_ms ? "restarted after " + format_span(std::max<std::int64_t>(*again_ms - instant.at_ms, 0))
                       : incident.after ? "not restarted by " + clock_time(incident.range.to_ms, zone)
                                        : "restart unknown");
  }
  if (incident.worst && incident.worst->some_percent >= kNoteworthyStallPercent) {
    text += fmt::format("{}tasks waited for memory {} of {} at the worst", text.empty() ? "" : "; ",
                        format_percent(incident.worst->some_percent),
                        format_span(incident.worst->until_ms - incident.worst->from_ms));
  }
  return text.empty() ? "no process was killed" : text;
}

// Returns the first alert about this incident; nullptr if there is none. Alerts name the victim, cgroup or mount.
const Event* alert_of(const Incident& incident) {
  const IncidentEntry& entry = *incident.instant.entry;
  const std::string name = incident.instant.victim ? fmt::format(" ({})", incident.instant.victim->pid) : entry.place;
  const auto alert = std::ranges::find_if(incident.events, [&](const Event& event) {
    return event.kind == "alert" && event.at.wall_ms >= entry.from_ms && event.text.find(name) != std::string::npos;
  });
  return alert == incident.events.end() ? nullptr : &*alert;
}

std::string tell_detection(const Incident& incident, Zone zone) {
  const IncidentTime& instant = incident.instant;
  std::string text = !instant.is_kill()       ? "by the recorder's samples"
                     : !instant.victim        ? "by the kernel's counters"
                     : instant.victim->killer ? "by the signal of the killer"
                     : instant.victim->detail ? "by the kernel's report and log"
                                              : "by the kernel's report";
  const Event* const alert = alert_of(incident);
  if (alert == nullptr) return text;
  return fmt::format("{}; alert at {}, {} later", text, clock_time(alert->at.wall_ms, zone),
                     format_span(std::max<std::int64_t>(alert->at.wall_ms - instant.at_ms, 0)));
}

// Describes what triggered the kill; empty if it is not known.
std::string tell_trigger(const Incident& incident, Units units) {
  const auto& victim = incident.instant.victim;
  if (!victim) return {};
  if (victim->killer)
    return fmt::format("{} ({}) sent {}", to_printable(victim->killer->comm), victim->killer->pid,
                       signal_name(victim->killer->signal));
  if (!victim->detail || victim->detail->invoked_by.empty()) return {};
  const OomDetail& detail = *victim->detail;
  const std::string where =
      incident.scope && detail.limit_kib
          ? fmt::format("when {} was at its {} limit", incident.scope->place, format_size(*detail.limit_kib, units))
          : "when no memory was left";
  return fmt::format("{} needed more memory {}", to_printable(detail.invoked_by), where);
}

// Describes the largest entry of a full tmpfs; empty if it is not known.
std::string tell_largest_entry(const Incident& incident, Units units) {
  const auto mount = std::ranges::find(incident.full_tmpfs, incident.instant.entry->tmpfs,
                                       [](const TmpfsAt& of) { return of.sample.mount_point; });
  if (mount == incident.full_tmpfs.end()) return {};
  const auto entries = largest_entries(*mount, 1);
  if (entries.empty()) return {};
  return fmt::format("{}, {}", to_printable(full_path(mount->sample, *entries.front())),
                     format_size(entries.front()->allocated_kib, units));
}

std::string tell_culprit(const Incident& incident, Units units) {
  if (incident.instant.entry->kind == IncidentKind::tmpfs) return tell_largest_entry(incident, units);
  const Part* const culprit = first_grown(incident);
  if (culprit == nullptr) return "not known: no program had grown much by the last sample";
  const Part& total =
      incident.scope && !incident.scope->parts.empty() ? incident.scope->parts.front() : incident.machine;
  const std::string grown = format_change(culprit->change_kib, units);
  const std::string sum = format_change(total.change_kib, units);
  const std::string span = format_span(incident.at.at_ms - incident.range.from_ms);
  // Other parts may have shrunk.
  if (total.change_kib < culprit->change_kib)
    return fmt::format("{}, {} in {}; in total {}", culprit->title, grown, span, sum);
  return fmt::format("{}, {} of {} in {}", culprit->title, grown, sum, span);
}

}  // namespace

void add_brief(const Options& options, const Incident& incident, Report& report) {
  if (!incident.instant.entry) return;
  const auto add = [&report](const char* name, const char* label, std::string text) {
    if (!text.empty()) report.facts.push_back({name, label, Kind::sentence, std::move(text)});
  };
  add("time", "Time", tell_times(incident, options.zone));
  add("impact", "Impact", tell_impact(incident, options.zone));
  add("detection", "Detected", tell_detection(incident, options.zone));
  add("trigger", "Trigger", tell_trigger(incident, options.units));
  add("culprit", "Culprit", tell_culprit(incident, options.units));
}

}  // namespace memoir::query
