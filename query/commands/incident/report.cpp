#include <algorithm>
#include <fmt/format.h>

#include "query/commands/incident/incident.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

constexpr std::size_t kPartsShown = 5;       // number of parts that fit the first screen of 24 lines
constexpr std::size_t kScopePartsShown = 4;  // fewer, because a cgroup has two more lines of context

// The outcome comes first, because the end of a line may be truncated.
Value what_of(const Part& part) {
  return part.outcome.empty() ? part.title : fmt::format("{}: {}", part.outcome, part.title);
}

Columns<Part> part_columns() {
  Columns<Part> columns;
  columns.add({"change_kib", "CHANGE", Kind::change}, &Part::change_kib);
  columns.add({"before_kib", "BEFORE", Kind::size, 2}, &Part::before_kib);
  columns.add({"at_kib", "AT", Kind::size, 1}, &Part::at_kib);
  columns.add({"after_kib", "AFTER", Kind::size, 3}, &Part::after_kib);
  columns.add(data_column("part"), &Part::name);
  columns.add(data_column("title"), &Part::title);
  columns.add(data_column("of_processes"), &Part::of_processes);
  columns.add(data_column("what"), [](const Part& part) { return part.outcome.empty() ? Value() : part.outcome; });
  columns.add(display_column("WHAT"), what_of);
  return columns;
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> kib) {
  if (kib) sum = sum.value_or(0) + *kib;
}

// Combines the parts that are not shown into one row, which names its largest component.
Part others_of(const std::vector<Part>& parts, std::size_t shown, Units units) {
  Part others{.name = "others"};
  std::int64_t identities = 0;
  std::string named;
  for (std::size_t i = shown; i < parts.size(); ++i) {
    const Part& part = parts[i];
    others.change_kib += part.change_kib;
    add(others.before_kib, part.before_kib);
    add(others.at_kib, part.at_kib);
    add(others.after_kib, part.after_kib);
    identities += part.of_processes ? 1 : 0;
    if (!part.of_processes && part.change_kib != 0 && named.size() < 48)
      named += fmt::format("; {} {}", part.name == "after_last_tick" ? part.title : part.name,
                           format_change(part.change_kib, units));
  }
  others.title = identities > 0 ? format_count(identities, "other", "others") + named
                                : named.substr(std::min<std::size_t>(named.size(), 2));
  return others;
}

// Returns the total and the first parts. Parts that do not fit become one row, so that the column adds up.
std::vector<Part> shown_parts(const Context& context, const Part& total, std::vector<Part> parts,
                              std::size_t max_shown) {
  std::erase_if(parts, [](const Part& part) {
    return part.change_kib == 0 && part.outcome.empty() && part.at_kib.value_or(0) == 0;
  });
  const bool machines = is_data_format(context.options.format);
  const std::size_t most = machines ? parts.size() : max_shown;
  std::size_t shown = limited(context.options, parts.size(), std::min(most, parts.size()));
  // The victim is shown regardless of its change.
  const auto cut = parts.begin() + static_cast<std::ptrdiff_t>(shown);
  shown += static_cast<std::size_t>(
      std::stable_partition(cut, parts.end(), [](const Part& part) { return part.killed; }) - cut);
  // A row for others takes as much space as a single part.
  if (shown + 1 == parts.size() && !context.options.limit) ++shown;
  std::vector<Part> rows{total};
  rows.insert(rows.end(), parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < parts.size()) rows.push_back(others_of(parts, shown, context.options.units));
  return rows;
}

Table part_table(const std::vector<Part>& parts) {
  Table table = make_table<Part>(part_columns(), parts, [&parts](const Part& part) {
    return part.killed ? Tone::problem : part.name == parts.front().name ? Tone::marked : Tone::plain;
  });
  table.own_units = true;
  return table;
}

bool has_own_rows(const Incident& incident) {
  return incident.scope && !incident.scope->parts.empty();
}

Table main_table(const Context& context, const Incident& incident) {
  if (!has_own_rows(incident)) return part_table(shown_parts(context, incident.machine, incident.parts, kPartsShown));
  const std::vector<Part>& parts = incident.scope->parts;
  return part_table(shown_parts(context, parts.front(), {parts.begin() + 1, parts.end()}, kScopePartsShown));
}

void add_scope_facts(const Incident& incident, Report& report) {
  const auto add = [&report](const char* name, Kind kind, Value value) {
    report.facts.push_back({name, "", kind, std::move(value)});
  };
  add("scope", Kind::text, std::string(incident.scope ? "cgroup" : "machine"));
  const Scope* const scope = incident.scope ? &*incident.scope : nullptr;
  const auto growth = scope != nullptr ? scope->growth : std::nullopt;
  add("scope_cgroup", Kind::text, scope != nullptr ? Value(scope->cgroup) : Value());
  add("scope_limit_kib", Kind::size, scope != nullptr ? Value(scope->limit_kib) : Value());
  add("scope_usage_kib", Kind::size, scope != nullptr ? Value(scope->usage_kib) : Value());
  add("scope_sampled", Kind::text, scope != nullptr ? Value(!scope->parts.empty()) : Value());
  add("growth_kib", Kind::size, growth ? Value(growth->kib()) : Value());
  add("growth_ms", Kind::duration, growth ? Value(growth->ms()) : Value());
  add("growth_kib_per_s", Kind::count, growth ? Value(growth->kib_per_s()) : Value());
  add("scope_restarts", Kind::count, scope != nullptr ? Value(scope->restarts) : Value());
  add("kills_30d", Kind::count, scope != nullptr ? Value(scope->kills_before.size()) : Value());
}

std::string moment_word(const IncidentTime& instant) {
  if (instant.is_kill()) return "oom-kill";
  if (instant.entry) return std::string(to_string(instant.entry->kind));
  return instant.kind == IncidentTime::Kind::pressure    ? "pressure"
         : instant.kind == IncidentTime::Kind::available ? "available"
                                                         : "given";
}

void add_facts(const Incident& incident, Report& report) {
  const auto used = [&](const char* name, const std::optional<std::int64_t>& kib) {
    report.facts.push_back({name, "", Kind::size, kib});
  };
  report.facts = {
      {"moment_ms", "", Kind::time, incident.instant.at_ms},
      {"moment", "", Kind::text, moment_word(incident.instant)},
      {"before_ms", "", Kind::time, incident.before.at_ms},
      {"state_ms", "", Kind::time, incident.at.at_ms},
      {"after_ms", "", Kind::time, incident.after ? Value(incident.after->at_ms) : Value()},
      {"tier", "", Kind::text, std::string(to_string(std::max(incident.before.tier(), incident.at.tier())))},
      {"story", "", Kind::text, report.lead}};
  used("used_before_kib", incident.machine.before_kib);
  used("used_kib", incident.machine.at_kib);
  used("used_after_kib", incident.machine.after_kib);
  add_scope_facts(incident, report);
}

void warn_of_states(const Context& context, const Incident& incident, Report& report) {
  const Zone zone = context.options.zone;
  const std::int64_t asked_ms = incident.instant.at_ms;
  if (const auto stale = stale_warning(incident.at, asked_ms, zone)) report.warnings.push_back(*stale);
  if (incident.before.at_ms >= incident.at.at_ms) {
    report.warnings.push_back(fmt::format("nothing was recorded before {}: there is no change to show",
                                          format_time(incident.at.at_ms, zone)));
  }
  if (!incident.after) report.warnings.emplace_back("nothing is recorded after this time yet");
  if (incident.left_out > 0) report.warnings.push_back(brief_left_out(incident.left_out));
  if (means_over(incident.before) || means_over(incident.at)) {
    report.warnings.emplace_back("the ticks of that time have expired: values are means over buckets");
  }
}

}  // namespace

Status fill_incident(const Context& context, const Incident& incident, Report& report) {
  report.at_ms = incident.instant.at_ms;
  report.title = incident_title(incident);
  report.tone = incident.instant.is_kill() ? Tone::problem : Tone::plain;
  report.lead = incident_story(context, incident, TRY(growth_history(context, incident, report)));
  report.width = 80;
  add_facts(incident, report);
  if (context.options.format == Format::html || context.options.format == Format::markdown)
    add_brief(context.options, incident, report);
  report.drawing = {""};
  report.rows = main_table(context, incident);
  TRY(add_evidence(context, incident, report));
  if (has_own_rows(incident)) {
    const auto rows = shown_parts(context, incident.machine, incident.parts, kPartsShown);
    report.sections.push_back({"machine", "The machine", part_table(rows)});
    report.sections.back().printed = false;
  }
  warn_of_states(context, incident, report);
  return Done{};
}

}  // namespace memoir::query
