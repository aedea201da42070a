#include <algorithm>
#include <fmt/format.h>

#include "query/commands/incident/incident.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

constexpr std::size_t kPartsShown = 5;  // the first screen has 24 lines

// What became of it is not to be cut off at the end of the line.
Value what_of(const Part& part) {
  return part.fate.empty() ? part.title : fmt::format("{}: {}", part.fate, part.title);
}

Columns<Part> part_columns() {
  Columns<Part> columns;
  columns.add({"change_kib", "CHANGE", Kind::change}, &Part::change_kib);
  columns.add({"before_kib", "BEFORE", Kind::size, 2}, &Part::before_kib);
  columns.add({"at_kib", "AT", Kind::size, 1}, &Part::at_kib);
  columns.add({"after_kib", "AFTER", Kind::size, 3}, &Part::after_kib);
  columns.add(for_machines("part"), &Part::name);
  columns.add(for_machines("title"), &Part::title);
  columns.add(for_machines("of_processes"), &Part::of_processes);
  columns.add(for_machines("what"), [](const Part& part) { return part.fate.empty() ? Value() : part.fate; });
  columns.add(for_people("WHAT"), what_of);
  return columns;
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> kib) {
  if (kib) sum = sum.value_or(0) + *kib;
}

// What is not shown one by one, in one row; what it is mostly made of is named.
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
      named += fmt::format("; {} {}", part.name, print_change(part.change_kib, units));
  }
  others.title = print_count(identities, "other", "others") + named;
  return others;
}

// Ranked, the machine first: those that do not fit are one row, so that the column adds up.
std::vector<Part> shown_parts(const Context& context, const Incident& incident) {
  std::vector<Part> parts = incident.parts;
  std::erase_if(parts, [](const Part& part) {
    return part.change_kib == 0 && part.fate.empty() && !part.before_kib && !part.at_kib;
  });
  const bool machines = is_for_machines(context.options.format);
  const std::size_t most = machines ? parts.size() : kPartsShown;
  std::size_t shown = limited(context.options, parts.size(), std::min(most, parts.size()));
  // Who was killed is shown whatever it changed.
  const auto cut = parts.begin() + static_cast<std::ptrdiff_t>(shown);
  shown += static_cast<std::size_t>(
      std::stable_partition(cut, parts.end(), [](const Part& part) { return part.killed; }) - cut);
  std::vector<Part> rows{incident.machine};
  rows.insert(rows.end(), parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < parts.size()) rows.push_back(others_of(parts, shown, context.options.units));
  return rows;
}

void add_facts(const Incident& incident, Report& report) {
  constexpr std::array kinds{"given", "oom-kill", "pressure", "available"};
  const auto used = [&](const char* name, const std::optional<std::int64_t>& kib) {
    report.facts.push_back({name, "", Kind::size, kib});
  };
  report.facts = {
      {"moment_ms", "", Kind::time, incident.instant.at_ms},
      {"moment", "", Kind::text, std::string(kinds.at(static_cast<std::size_t>(incident.instant.kind)))},
      {"before_ms", "", Kind::time, time_of(incident.before)},
      {"state_ms", "", Kind::time, time_of(incident.at)},
      {"after_ms", "", Kind::time, incident.after ? Value(time_of(*incident.after)) : Value()},
      {"tier", "", Kind::text, std::string(to_string(std::max(incident.before.tier(), incident.at.tier())))},
      {"story", "", Kind::text, report.lead}};
  used("used_before_kib", incident.machine.before_kib);
  used("used_kib", incident.machine.at_kib);
  used("used_after_kib", incident.machine.after_kib);
}

void warn_of_states(const Context& context, const Incident& incident, Report& report) {
  const Zone zone = context.options.zone;
  const std::int64_t asked_ms = incident.instant.at_ms;
  if (const auto stale = stale_warning(incident.at, asked_ms, zone)) report.warnings.push_back(*stale);
  if (time_of(incident.before) >= time_of(incident.at)) {
    report.warnings.push_back(fmt::format("nothing was recorded before {}: there is no change to show",
                                          print_time(time_of(incident.at), zone)));
  }
  if (!incident.after) report.warnings.emplace_back("nothing is recorded after it yet");
  if (means_over(incident.before) || means_over(incident.at)) {
    report.warnings.emplace_back(
        "the ticks of that time are gone: values are means over buckets, and what happened within one is not seen");
  }
}

}  // namespace

Status fill_incident(const Context& context, const Incident& incident, Report& report) {
  report.at_ms = incident.instant.at_ms;
  report.title = incident_title(incident);
  report.tone = incident.instant.kind == Instant::Kind::oom_kill ? Tone::problem : Tone::plain;
  report.lead = tell_story(context, incident, TRY(tell_past(context, incident, report)));
  report.width = 80;
  add_facts(incident, report);
  report.drawing = {""};
  report.rows = make_table<Part>(part_columns(), shown_parts(context, incident), [](const Part& part) {
    return part.killed ? Tone::problem : part.name == "machine" ? Tone::marked : Tone::plain;
  });
  report.rows.own_units = true;
  TRY(add_evidence(context, incident, report));
  warn_of_states(context, incident, report);
  return Done{};
}

}  // namespace memoir::query
