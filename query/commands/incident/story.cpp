#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "base/text.h"
#include "model/container.h"
#include "query/args/times.h"
#include "query/commands/incident/incident.h"
#include "query/leaks/judged_leaks.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kNoteworthyKib = 1024;
constexpr std::size_t kMostBeside = 2;

// "java (812)"
std::string name_of(const OomVictim& victim) {
  return fmt::format("{} ({})", victim.comm.empty() ? "a process" : to_printable(victim.comm), victim.pid);
}

// " when app.service reached its limit of 8.0 GiB"
std::string why_killed(const Incident& incident, const OomVictim& victim, Units units) {
  if (!victim.detail) return victim.cgroup.empty() ? "" : " in " + place_of(incident, victim.cgroup);
  const OomDetail& detail = *victim.detail;
  if (detail.scope == OomScope::machine) return " because the machine had no memory left";
  if (detail.scope == OomScope::nodes) return " because the memory nodes that it may use had none left";
  if (detail.limit_cgroup.empty()) return " when a cgroup reached its limit";
  const std::string limit = detail.limit_kib ? " of " + print_size(*detail.limit_kib, units) : "";
  return fmt::format(" when {} reached its limit{}", place_of(incident, detail.limit_cgroup), limit);
}

// "The kernel killed java (812) when app.service reached its limit of 8.0 GiB"
// "earlyoom (512) killed java (812) in app.service with SIGTERM"
std::string who_killed(const Incident& incident, const OomVictim& victim, Units units) {
  const std::string whom = name_of(victim) + why_killed(incident, victim, units);
  if (!victim.killer) return "The kernel killed " + whom;
  const std::string killer = fmt::format("{} ({})", to_printable(victim.killer->comm), victim.killer->pid);
  const std::string signal = signal_name(victim.killer->signal);
  return victim.killed() ? fmt::format("{} killed {} with {}", killer, whom, signal)
                         : fmt::format("{} sent {} to {}", killer, signal, whom);
}

std::string what_it_had(const OomVictim& victim, Units units) {
  if (!victim.killed()) return ", which went on";
  if (victim.peak_kib) return fmt::format("; it had at most {}", print_size(*victim.peak_kib, units));
  if (!victim.held_kib) return {};
  return fmt::format("; it had {}{}", print_size(*victim.held_kib, units), victim.held ? "" : " when it was seen last");
}

std::string tell_kill(const Incident& incident, Units units) {
  const Instant& instant = incident.instant;
  if (!instant.victim) return to_printable(instant.counted) + ". The kernel did not tell whom.";
  const OomVictim& victim = *instant.victim;
  std::string text = fmt::format("{}{}.", who_killed(incident, victim, units), what_it_had(victim, units));
  const std::int64_t others = std::ranges::count_if(incident.victims, &OomVictim::killed) - (victim.killed() ? 1 : 0);
  if (others <= 0) return text;
  const std::string them = print_count(others, "other process", "other processes");
  const bool by_kernel =
      std::ranges::none_of(incident.victims, [](const OomVictim& of) { return of.killer.has_value(); });
  text += by_kernel
              ? fmt::format(" In the time shown it killed {}.", them)
              : fmt::format(" In the time shown {} {} killed for want of memory.", them, others == 1 ? "was" : "were");
  return text;
}

std::string tell_instant(const Incident& incident, Units units) {
  const Instant& instant = incident.instant;
  const MachineMemory& at = incident.at.machine.memory;
  const auto total = at.get(MachineField::mem_total);
  const std::string of_all = total ? " of " + print_size(*total, units) : "";
  switch (instant.kind) {
    case Instant::Kind::oom_kill:
      return tell_kill(incident, units);
    case Instant::Kind::pressure:
      return fmt::format("Memory was short: some process waited for it for {} of {}, the most of the last day.",
                         print_percent(*instant.stalled_percent), print_span(*instant.stalled_ms));
    case Instant::Kind::available:
      if (instant.available_kib) {
        return fmt::format(
            "No OOM kill is recorded and hardly any pressure. The least that was available in the last "
            "day was {}{}.",
            print_size(*instant.available_kib, units), of_all);
      }
      return "No OOM kill and no pressure is recorded: this is the last tick.";
    case Instant::Kind::given:
      break;
  }
  const auto used = incident.machine.at_kib;
  return used ? fmt::format("In use {}{}.", print_size(*used, units), of_all) : "";
}

std::string tell_growth(const Part& part, const Incident& incident, Units units) {
  if (!part.before_kib) return fmt::format("{} began and took {}.", part.title, print_size(part.change_kib, units));
  return fmt::format("{} had grown by {} in {}, to {}.", part.title, print_size(part.change_kib, units),
                     print_span(incident.at.at_ms - incident.range.from_ms),
                     print_size(part.at_kib.value_or(0), units));
}

const Part* first_grown(const Incident& incident) {
  const auto found = std::ranges::find_if(
      incident.parts, [](const Part& part) { return part.of_processes && part.change_kib >= kNoteworthyKib; });
  return found == incident.parts.end() ? nullptr : &*found;
}

// Those that took a tenth as much as the first, or more.
std::string tell_beside(const Incident& incident, const Part& first, Units units) {
  std::string text;
  std::size_t told = 0;
  for (const Part& part : incident.parts) {
    const bool much = part.change_kib >= std::max(kNoteworthyKib, first.change_kib / 10);
    if (&part == &first || !much || (!part.of_processes && part.name != "shmem") || told == kMostBeside) continue;
    ++told;
    const bool tmpfs = part.name == "shmem";
    const std::string name = !tmpfs ? part.title
                             : incident.tmpfs_grown.empty()
                                 ? "tmpfs and shared memory"
                                 : fmt::format("tmpfs ({})", to_printable(incident.tmpfs_grown));
    text += fmt::format("{}{} {} {}", text.empty() ? " Beside it " : " and ", name,
                        part.before_kib || tmpfs ? "grew by" : "began and took", print_size(part.change_kib, units));
  }
  return text.empty() ? text : text + ".";
}

std::string tell_parts(const Incident& incident, const std::string& past, Units units) {
  const Part* const first = first_grown(incident);
  if (first == nullptr) {
    const bool unseen = incident.instant.victim && process_of(incident, *incident.instant.victim) == nullptr;
    return unseen ? " No tick saw it." : " No process had grown much before.";
  }
  return " " + tell_growth(*first, incident, units) + past + tell_beside(incident, *first, units);
}

// The mean of the bucket that holds it.
std::optional<std::int64_t> held_at(const std::vector<Interval>& series, std::int64_t at_ms) {
  for (const Interval& of : series) {
    if (of.from_ms <= at_ms && at_ms < of.until_ms) return of.mean;
  }
  return std::nullopt;
}

std::string tell_long_ago(std::int64_t before_kib, std::optional<std::int64_t> day, std::optional<std::int64_t> week,
                          Units units) {
  // What it holds anyway is no news.
  const auto differs = [&](std::int64_t kib) { return std::abs(before_kib - kib) > before_kib / 20; };
  if (!day || (!differs(*day) && (!week || !differs(*week)))) return {};
  std::string text = fmt::format(" A day before it held {}", print_size(*day, units));
  if (week) text += fmt::format(", a week before {}", print_size(*week, units));
  return text + ".";
}

// Until then.
Result<std::string> tell_leak(const Context& context, std::int64_t identity_id, std::int64_t until_ms, Report& report) {
  const LeakSettings settings = TRY(leak_settings(context.options, report.warnings));
  const Range range{std::max(until_ms - kLeakHistoryMs, context.file.first_tick_ms), until_ms};
  if (range.from_ms >= range.to_ms) return std::string();
  const auto rows = TRY(judge_identity(context, identity_id, range, settings));
  for (const LeakRow& row : rows) {
    if (!row.finding.leak) continue;
    return fmt::format(" Before that it leaked {} a day since {}.",
                       print_amount(row.finding.slope_per_day.value, row.metric.unit, context.options.units),
                       print_date(row.finding.since_ms, context.options.zone));
  }
  return std::string();
}

}  // namespace

std::string place_of(const Incident& incident, const std::string& cgroup) {
  if (const std::string label = container_of(cgroup); !label.empty()) {
    const auto name = incident.containers.find(label);
    return to_printable(name == incident.containers.end() ? "the container " + label
                                                          : fmt::format("the container {} ({})", name->second, label));
  }
  const std::size_t slash = cgroup.find_last_not_of('/');
  if (slash == std::string::npos) return "the root cgroup";
  const std::string trimmed = cgroup.substr(0, slash + 1);
  return to_printable(trimmed.substr(trimmed.rfind('/') + 1));
}

std::string clock_time(std::int64_t ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  return fmt::format("{:02}:{:02}:{:02}", at.hour, at.minute, at.second);
}

std::string incident_title(const Incident& incident) {
  const Instant& instant = incident.instant;
  switch (instant.kind) {
    case Instant::Kind::oom_kill: {
      const bool placed = instant.victim && !instant.victim->cgroup.empty() && instant.victim->cgroup != "/";
      return placed ? "OOM kill in " + place_of(incident, instant.victim->cgroup) : "OOM kill";
    }
    case Instant::Kind::pressure:
      return "the worst pressure";
    case Instant::Kind::available:
      return "the least memory available";
    case Instant::Kind::given:
      break;
  }
  return "what happened around it";
}

Result<std::string> tell_past(const Context& context, const Incident& incident, Report& report) {
  const Part* const part = first_grown(incident);
  const auto process = std::ranges::find_if(incident.processes, [part](const StoredProcess& of) {
    return part != nullptr && of.identity_id != 0 && group_key(of, "identity") == part->name;
  });
  if (process == incident.processes.end() || !part->before_kib) return std::string();
  const std::int64_t from_ms = incident.range.from_ms;
  const std::string leak = TRY(tell_leak(context, process->identity_id, from_ms, report));
  if (!leak.empty()) return leak;
  std::vector<Interval> series;
  const Range week{from_ms - 7 * kDayMs - kHourMs, from_ms};
  TRY(context.reader.history({Tier::hour, SubjectKind::identity, process->identity_id, week, {Metric::pss}, true},
                             [&series](const SubjectInterval& of) { series.push_back(of.interval); }));
  return tell_long_ago(*part->before_kib, held_at(series, from_ms - kDayMs), held_at(series, from_ms - 7 * kDayMs),
                       context.options.units);
}

std::string tell_story(const Context& context, const Incident& incident, const std::string& past) {
  const Units units = context.options.units;
  return tell_instant(incident, units) + tell_parts(incident, past, units);
}

}  // namespace memoir::query
