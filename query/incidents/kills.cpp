// Incidents of kills: reported victims, and kills that only the kernel's counters include.

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>

#include "base/text.h"
#include "query/incidents/incidents.h"
#include "query/incidents/makers.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"
#include "store/events.h"

namespace memoir::query {
namespace {

// With memory.oom.group, one kill has many victims, all within this time. The first victim is shown.
constexpr std::int64_t kGroupMs = 100;

// Returns the cgroup that reached its limit, or the victim's cgroup; empty for the machine.
std::string scope_cgroup(const OomVictim& victim) {
  if (!victim.detail || victim.killer) return victim.cgroup;
  if (victim.detail->scope == OomScope::machine) return {};
  return victim.detail->limit_cgroup.empty() ? victim.cgroup : victim.detail->limit_cgroup;
}

// Returns the latest incidents that started up to `at_ms`, at most 200. Even in a flood of kills, older incidents are
// over.
std::span<IncidentEntry> started_by(std::vector<IncidentEntry>& incidents, std::int64_t at_ms) {
  constexpr std::ptrdiff_t max_open = 200;
  const auto end = std::ranges::upper_bound(incidents, at_ms, {}, &IncidentEntry::from_ms);
  return {std::prev(end, std::min(max_open, end - incidents.begin())), end};
}

// Returns the latest incident within ten minutes before `at_ms` that matches; nullptr if there is none.
template <typename Match>
IncidentEntry* recent(std::vector<IncidentEntry>& incidents, std::int64_t at_ms, const Match& match) {
  const std::span<IncidentEntry> open = started_by(incidents, at_ms);
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const IncidentEntry& entry) {
    return at_ms - entry.to_ms <= kSameIncidentMs && match(entry);
  });
  return found == open.rend() ? nullptr : &*found;
}

// Finds the incident of a victim. After many kills in a row, the log may lack the details of some. Such a victim
// belongs to the incident at the limit of the machine, or at a limit above its cgroup.
IncidentEntry* incident_of(std::vector<IncidentEntry>& incidents, const OomVictim& victim, const std::string& cgroup) {
  return recent(incidents, victim.at_ms, [&](const IncidentEntry& entry) {
    if (entry.victims.empty()) return false;
    const OomVictim& other = entry.victims.front();
    if (victim.killer.has_value() != other.killer.has_value()) return false;
    if (victim.killer) return entry.cgroup == cgroup && victim.killer->comm == other.killer->comm;
    if (victim.detail) return entry.cgroup == cgroup && (!entry.scope || entry.scope == victim.detail->scope);
    return entry.scope == OomScope::machine || entry.cgroup == cgroup ||
           (!entry.cgroup.empty() && is_in_cgroup(victim.cgroup, entry.cgroup));
  });
}

void add_victim(std::vector<IncidentEntry>& incidents, OomVictim victim) {
  const std::string cgroup = scope_cgroup(victim);
  IncidentEntry* entry = incident_of(incidents, victim, cgroup);
  if (entry == nullptr) {
    entry = &incidents.emplace_back();
    entry->kind = victim.killer ? IncidentKind::user_kill : IncidentKind::oom_kill;
    entry->from_ms = victim.at_ms;
    entry->cgroup = cgroup;
  }
  if (victim.detail) {
    entry->scope = victim.detail->scope;
    entry->limit_kib = victim.detail->limit_kib;
    entry->usage_kib = victim.detail->usage_kib;
  }
  entry->kills += victim.killed() ? 1 : 0;
  const bool new_burst = entry->victims.empty() || victim.at_ms - entry->to_ms > kGroupMs;
  if (new_burst) entry->victim = entry->victims.size();
  entry->to_ms = victim.at_ms;
  entry->at_ms = entry->victims.empty() || new_burst ? victim.at_ms : entry->at_ms;
  entry->victims.push_back(std::move(victim));
}

// Counts the victims of an incident that the kernel killed and that `counted` may include.
std::int64_t reported_kills(const IncidentEntry& entry, const CountedKills& counted, std::int64_t slack_ms) {
  return std::ranges::count_if(entry.victims, [&](const OomVictim& victim) {
    return !victim.killer && victim.at_ms > counted.since_ms.value_or(0) - slack_ms &&
           victim.at_ms <= counted.at_ms + slack_ms;
  });
}

// Adds the counted kills that have no reported victim.
void add_counted(std::vector<IncidentEntry>& incidents, const CountedKills& counted, std::int64_t slack_ms) {
  std::int64_t left = counted.kills;
  IncidentEntry* joined = nullptr;
  for (IncidentEntry& entry : started_by(incidents, counted.at_ms + slack_ms)) {
    const bool is_same = counted.cgroup.empty() || entry.scope == OomScope::machine || entry.cgroup.empty() ||
                         is_in_cgroup(counted.cgroup, entry.cgroup) || is_in_cgroup(entry.cgroup, counted.cgroup);
    const std::int64_t reported =
        entry.kind == IncidentKind::oom_kill && is_same ? reported_kills(entry, counted, slack_ms) : 0;
    if (reported == 0) continue;
    left -= reported;
    joined = &entry;
  }
  if (left <= 0) return;
  if (joined == nullptr) {
    joined = recent(incidents, counted.at_ms, [&](const IncidentEntry& entry) {
      return entry.kind == IncidentKind::oom_kill && entry.cgroup == counted.cgroup && entry.from_ms <= counted.at_ms &&
             (!counted.cgroup.empty() || entry.victims.empty());
    });
  }
  if (joined != nullptr) {
    joined->kills += left;
    if (joined->victims.empty()) joined->at_ms = counted.at_ms;
    joined->to_ms = std::max(joined->to_ms, counted.at_ms);
    return;
  }
  const auto place = std::ranges::upper_bound(incidents, counted.at_ms, {}, &IncidentEntry::from_ms);
  incidents.insert(place, {.kind = IncidentKind::oom_kill,
                           .at_ms = counted.at_ms,
                           .from_ms = counted.at_ms,
                           .to_ms = counted.at_ms,
                           .cgroup = counted.cgroup,
                           .kills = left});
}

std::string text_of(const IncidentEntry& entry, const ContainerNames& containers, Units units) {
  const OomVictim* const victim = entry.shown_victim();
  if (victim == nullptr) {
    return fmt::format("The OOM killer killed {}{} (victim unknown)", format_count(entry.kills, "process", "processes"),
                       entry.cgroup.empty() ? "" : " in " + entry.place);
  }
  std::string text = kill_sentence(*victim, containers, units);
  const std::int64_t others = entry.kills - (victim->killed() ? 1 : 0);
  if (others > 0)
    text += fmt::format("; {} in {}", format_count(others, "other kill", "other kills"),
                        format_span(std::max<std::int64_t>(entry.to_ms - entry.from_ms, 1000)));
  return text;
}

}  // namespace

Result<std::vector<IncidentEntry>> load_kill_incidents(const Context& context, Range range) {
  // Kills before the range may belong to the first incident.
  const Range wide{range.from_ms - kSameIncidentMs, range.to_ms};
  std::vector<IncidentEntry> incidents;
  for (OomVictim& victim : TRY(load_oom_victims(context.reader, wide))) add_victim(incidents, std::move(victim));
  const std::int64_t slack_ms = 1'000;  // difference between the clocks of the sources
  for (const CountedKills& counted : TRY(load_counted_kills(context.reader, wide)))
    add_counted(incidents, counted, slack_ms);
  std::erase_if(incidents, [range](const IncidentEntry& entry) { return entry.to_ms < range.from_ms; });
  const ContainerNames containers = TRY(container_names(context.reader));
  for (IncidentEntry& entry : incidents) {
    const bool of_machine = entry.scope == OomScope::machine;
    entry.place = of_machine ? "the machine" : entry.cgroup.empty() ? "unknown" : place_name(entry.cgroup, containers);
    entry.text = text_of(entry, containers, context.options.units);
  }
  std::ranges::stable_sort(incidents, std::greater(), &IncidentEntry::at_ms);
  return incidents;
}

}  // namespace memoir::query
