#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "base/text.h"
#include "query/args/times.h"
#include "query/commands/incident/incident.h"
#include "query/leaks/judged_leaks.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kNoteworthyKib = 1024;
constexpr std::size_t kMaxFurther = 2;

// Returns whether a sentence may name the part. It may name programs, and memory outside of programs, but not a
// remainder, which explains nothing.
bool is_nameable(const Part& part, const Incident& incident) {
  if (part.of_processes || part.name == "shmem") return true;
  return incident.scope && (part.name == "page_cache" || part.name == "kernel");
}

const std::vector<Part>& parts_in_scope(const Incident& incident) {
  return incident.scope && !incident.scope->parts.empty() ? incident.scope->parts : incident.parts;
}

std::string what_it_had(const OomVictim& victim, Units units) {
  if (!victim.killed()) return ", which kept running";
  if (victim.peak_kib) return fmt::format("; its RSS peaked at {}", format_size(*victim.peak_kib, units));
  if (!victim.held_kib) return {};
  return fmt::format("; its {}RSS was {}", victim.held ? "" : "last ", format_size(*victim.held_kib, units));
}

std::string explain_peak(const Incident& incident, const OomVictim& victim) {
  const auto limit = incident.scope ? incident.scope->limit_kib : std::nullopt;
  if (!limit || victim.peak_kib.value_or(0) <= *limit) return {};
  return " (above the limit: RSS includes pages charged to other cgroups)";
}

std::string part_name(const Part& part, const Incident& incident) {
  if (incident.scope || part.name != "shmem") return part.title;
  return incident.tmpfs_grown.empty() ? "tmpfs and shared memory"
                                      : fmt::format("tmpfs ({})", to_printable(incident.tmpfs_grown));
}

// "db in db.service grew by 2.0 GiB to 4.0 GiB in 10 min"
std::string growth_words(const Part& part, const Incident& incident, Units units) {
  const std::string name = part_name(part, incident);
  if (part.of_processes && !part.before_kib)
    return fmt::format("{} started and used {}", name, format_size(part.change_kib, units));
  return fmt::format("{} grew by {} to {} in {}", name, format_size(part.change_kib, units),
                     format_size(part.at_kib.value_or(0), units),
                     format_span(incident.at.at_ms - incident.range.from_ms));
}

// Returns the cause that the first sentence names, if it is not the victim's program; otherwise nullptr. A full tmpfs
// is its own cause.
const Part* cause_in_sentence(const Incident& incident) {
  const IncidentTime& instant = incident.instant;
  if (!instant.entry || instant.entry->kind == IncidentKind::tmpfs) return nullptr;
  const Part* const cause = first_grown(incident);
  if (cause == nullptr || cause->killed) return nullptr;
  const StoredProcess* const victim = instant.victim ? process_of(incident, *instant.victim) : nullptr;
  return victim != nullptr && group_key(*victim, "identity") == cause->name ? nullptr : cause;
}

std::string tell_cause(const Incident& incident, Units units) {
  const Part* const cause = cause_in_sentence(incident);
  return cause == nullptr ? "" : ", after " + growth_words(*cause, incident, units);
}

std::string tell_other_kills(const Incident& incident, const OomVictim& victim) {
  const auto is_in_scope = [&incident](const OomVictim& of) {
    return of.killed() && (!incident.scope || is_in_cgroup(of.cgroup, incident.scope->cgroup));
  };
  const std::int64_t reported = std::ranges::count_if(incident.victims, is_in_scope);
  const std::int64_t killed = incident.scope ? reported : std::max(reported, incident.counted_kills.value_or(0));
  const std::int64_t others = killed - (victim.killed() ? 1 : 0);
  if (others <= 0) return {};
  const std::string them = format_count(others, "other process", "other processes");
  const bool by_kernel =
      std::ranges::none_of(incident.victims, [](const OomVictim& of) { return of.killer.has_value(); });
  return by_kernel ? fmt::format(" It killed {} in this window.", them)
                   : fmt::format(" {} {} OOM-killed in this window.", them, others == 1 ? "was" : "were");
}

// Describes kills of other incidents within a second.
std::string tell_same_moment(const Incident& incident, Units units) {
  if (!incident.instant.victim) return {};
  const OomVictim& shown = *incident.instant.victim;
  const std::vector<OomVictim>& own = incident.instant.entry->victims;
  std::string text;
  std::int64_t others = 0;
  for (const OomVictim& victim : incident.victims) {
    const auto is_it = [&victim](const OomVictim& of) { return of.pid == victim.pid && of.at_ms == victim.at_ms; };
    if (std::abs(victim.at_ms - shown.at_ms) > kSameMomentMs || std::ranges::any_of(own, is_it)) continue;
    if (others++ > 0) continue;
    text = fmt::format(" At the same time: {} (memoir incident {} --at @{})",
                       kill_sentence(victim, incident.containers, units), victim.pid, victim.at_ms);
  }
  if (others > 1) text += fmt::format(" and {}", format_count(others - 1, "other kill", "other kills"));
  return text.empty() ? text : text + ".";
}

std::string tell_entry(const Incident& incident, Units units) {
  const IncidentTime& instant = incident.instant;
  if (!instant.victim) return to_printable(instant.entry->text) + tell_cause(incident, units) + ".";
  const OomVictim& victim = *instant.victim;
  return fmt::format("{}{}{}{}.{}", kill_sentence(victim, incident.containers, units), tell_cause(incident, units),
                     what_it_had(victim, units), explain_peak(incident, victim), tell_other_kills(incident, victim));
}

std::string tell_instant(const Incident& incident, Units units) {
  const IncidentTime& instant = incident.instant;
  const MachineMemory& at = incident.at.machine.memory;
  const auto total = at.get(MachineField::mem_total);
  const std::string of_all = total ? " of " + format_size(*total, units) : "";
  switch (instant.kind) {
    case IncidentTime::Kind::listed:
      return tell_entry(incident, units);
    case IncidentTime::Kind::pressure:
      return fmt::format("Memory pressure: tasks stalled {} of {}, the worst of the last day.",
                         format_percent(*instant.stalled_percent), format_span(*instant.stalled_ms));
    case IncidentTime::Kind::available:
      if (instant.available_kib) {
        return fmt::format(
            "No OOM kill and little pressure recorded. Available memory was lowest at {}{} in the last day.",
            format_size(*instant.available_kib, units), of_all);
      }
      return "No OOM kill or pressure recorded; this is the latest tick.";
    case IncidentTime::Kind::given:
      break;
  }
  const auto used = incident.machine.at_kib;
  return used ? fmt::format("{}{} in use.", format_size(*used, units), of_all) : "";
}

// " shop.service grew by 152.0 MiB in 76 s (2.0 MiB/s)."
std::string tell_scope(const Incident& incident, Units units) {
  if (!incident.scope) return {};
  const Scope& scope = *incident.scope;
  if (scope.parts.empty()) return fmt::format(" The usage of {} was not sampled.", scope.place);
  if (!scope.growth || scope.growth->kib() < kNoteworthyKib) return {};
  const UsageGrowth& growth = *scope.growth;
  return fmt::format(" {} grew by {} in {} ({}/s).", scope.place, format_size(growth.kib(), units),
                     format_span(growth.ms()), format_size(static_cast<std::int64_t>(growth.kib_per_s()), units));
}

std::string tell_kills_before(const Incident& incident, Zone zone) {
  if (!incident.scope || !incident.instant.is_kill()) return {};
  const auto& kills = incident.scope->kills_before;
  if (kills.empty()) return " No earlier OOM kill of it is recorded.";
  return fmt::format(" It was OOM-killed in {} in 30 days, the last on {}.",
                     format_count(std::ssize(kills), "earlier incident", "earlier incidents"),
                     format_time(kills.front(), zone));
}

// Lists the parts that grew at least a tenth as much as `first`.
std::string tell_beside(const Incident& incident, const Part& first, Units units) {
  std::string text;
  std::size_t named = 0;
  for (const Part& part : parts_in_scope(incident)) {
    const bool much = part.change_kib >= std::max(kNoteworthyKib, first.change_kib / 10);
    if (&part == &first || !much || !is_nameable(part, incident) || named == kMaxFurther) continue;
    ++named;
    text += fmt::format("{}{} {} {}", text.empty() ? " Also, " : " and ", part_name(part, incident),
                        part.before_kib || !part.of_processes ? "grew by" : "started and used",
                        format_size(part.change_kib, units));
  }
  return text.empty() ? text : text + ".";
}

// " Its largest entries: big.iso (500.0 MiB), tmp (10.0 MiB)."
std::string tell_entries(const Incident& incident, Units units) {
  constexpr std::size_t max_entries = 3;
  const auto mount = std::ranges::find(incident.full_tmpfs, incident.instant.entry->tmpfs,
                                       [](const TmpfsAt& of) { return of.sample.mount_point; });
  if (mount == incident.full_tmpfs.end()) return {};
  std::string text;
  for (const TmpfsEntry* const entry : largest_entries(*mount, max_entries)) {
    text += fmt::format("{}{} ({})", text.empty() ? " Its largest entries: " : ", ", to_printable(entry->path),
                        format_size(entry->allocated_kib, units));
  }
  return text.empty() ? " Its entries are not known." : text + ".";
}

std::string tell_parts(const Incident& incident, const std::string& past, Units units) {
  if (incident.instant.entry && incident.instant.entry->kind == IncidentKind::tmpfs)
    return tell_entries(incident, units);
  const Part* const first = first_grown(incident);
  if (first == nullptr) {
    const bool unseen = incident.instant.victim && process_of(incident, *incident.instant.victim) == nullptr;
    return unseen ? " The victim was never sampled." : " No process had grown significantly.";
  }
  const std::string growth =
      first == cause_in_sentence(incident) ? "" : " " + growth_words(*first, incident, units) + ".";
  return growth + past + tell_beside(incident, *first, units);
}

// Returns the mean of the bucket that contains a time.
std::optional<std::int64_t> held_at(const std::vector<Interval>& series, std::int64_t at_ms) {
  for (const Interval& of : series) {
    if (of.from_ms <= at_ms && at_ms < of.until_ms) return of.mean;
  }
  return std::nullopt;
}

std::string tell_long_ago(std::int64_t before_kib, std::optional<std::int64_t> day, std::optional<std::int64_t> week,
                          Units units) {
  // Usage that was the same a day and a week earlier is not mentioned.
  const auto differs = [&](std::int64_t kib) { return std::abs(before_kib - kib) > before_kib / 20; };
  if (!day || (!differs(*day) && (!week || !differs(*week)))) return {};
  std::string text = fmt::format(" It used {} a day earlier", format_size(*day, units));
  if (week) text += fmt::format(" and {} a week earlier", format_size(*week, units));
  return text + ".";
}

Result<std::string> tell_leak(const Context& context, std::int64_t identity_id, std::int64_t until_ms, Report& report) {
  const LeakSettings settings = TRY(leak_settings(context.options, report.warnings));
  const Range range{std::max(until_ms - kLeakHistoryMs, context.file.first_tick_ms), until_ms};
  if (range.from_ms >= range.to_ms) return std::string();
  const auto rows = TRY(judge_identity(context, identity_id, range, settings));
  for (const LeakRow& row : rows) {
    if (!row.finding.leak) continue;
    return fmt::format(" It had been leaking {} per day since {}.",
                       format_amount(row.finding.slope_per_day.value, row.metric.unit, context.options.units),
                       format_date(row.finding.since_ms, context.options.zone));
  }
  return std::string();
}

}  // namespace

const Part* first_grown(const Incident& incident) {
  const Part* first = nullptr;
  for (const Part& part : parts_in_scope(incident)) {
    // Parts outside the incident's cgroup are not the cause. Without samples of the cgroup, all parts may be outside.
    if (incident.scope && !part.in_limit) continue;
    const bool nameable = part.of_processes ||
                          (incident.scope ? part.name == "page_cache" || part.name == "shmem" || part.name == "kernel"
                                          : part.name == "shmem");
    if (!nameable || part.change_kib < kNoteworthyKib) continue;
    if (first == nullptr || part.change_kib > first->change_kib) first = &part;
  }
  return first;
}

std::string clock_time(std::int64_t ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  return fmt::format("{:02}:{:02}:{:02}", at.hour, at.minute, at.second);
}

namespace {

std::string listed_title(const Incident& incident) {
  const IncidentEntry& entry = *incident.instant.entry;
  switch (entry.kind) {
    case IncidentKind::oom_kill:
    case IncidentKind::user_kill: {
      const std::string& cgroup = incident.scope            ? incident.scope->cgroup
                                  : incident.instant.victim ? incident.instant.victim->cgroup
                                                            : entry.cgroup;
      return cgroup.empty() || cgroup == "/" ? "OOM kill" : "OOM kill in " + place_name(cgroup, incident.containers);
    }
    case IncidentKind::pressure:
      return "memory pressure";
    case IncidentKind::swap:
      return "swap exhausted";
    case IncidentKind::tmpfs:
      return "tmpfs full: " + entry.place;
    case IncidentKind::limit:
      return "limit reached in " + entry.place;
    case IncidentKind::throttled:
      return "throttled at memory.high: " + entry.place;
    case IncidentKind::growth:
      break;
  }
  return "fast growth of memory in use";
}

}  // namespace

std::string incident_title(const Incident& incident) {
  const IncidentTime& instant = incident.instant;
  switch (instant.kind) {
    case IncidentTime::Kind::listed:
      return listed_title(incident);
    case IncidentTime::Kind::pressure:
      return "worst memory pressure";
    case IncidentTime::Kind::available:
      return "lowest available memory";
    case IncidentTime::Kind::given:
      break;
  }
  return "memory around this time";
}

Result<std::string> growth_history(const Context& context, const Incident& incident, Report& report) {
  const Part* const part = first_grown(incident);
  const auto process = std::ranges::find_if(incident.processes, [part](const StoredProcess& of) {
    return part != nullptr && of.identity_id != 0 && group_key(of, "identity") == part->name;
  });
  if (process == incident.processes.end() || !part->before_kib) return std::string();
  const std::int64_t from_ms = incident.range.from_ms;
  const std::string leak = TRY(tell_leak(context, process->identity_id, from_ms, report));
  if (!leak.empty()) return leak;
  const Range week{from_ms - 7 * kDayMs - kHourMs, from_ms};
  SeriesByMetric all = TRY(load_series(
      context.reader, {Tier::hour, SubjectKind::identity, process->identity_id, week, {Metric::pss}, true}));
  const std::vector<Interval>& series = all[Metric::pss];
  return tell_long_ago(*part->before_kib, held_at(series, from_ms - kDayMs), held_at(series, from_ms - 7 * kDayMs),
                       context.options.units);
}

std::string incident_story(const Context& context, const Incident& incident, const std::string& past) {
  const Units units = context.options.units;
  return tell_instant(incident, units) + tell_scope(incident, units) + tell_parts(incident, past, units) +
         tell_kills_before(incident, context.options.zone) + tell_same_moment(incident, units);
}

}  // namespace memoir::query
