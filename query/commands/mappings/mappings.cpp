// memoir mappings: a process's mappings at one time, by kind and name.

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "query/names/name_lookup.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/limit.h"
#include "query/state/mapping_summaries.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

Columns<MappedProcess> summary_columns(const State& state) {
  Columns<MappedProcess> columns;
  add_use(columns, [](const MappedProcess& summary) -> const MappingUse& { return summary.sum; });
  columns.add({"state", "STATE", Kind::text, 1},
              [](const MappedProcess& summary) { return Value(to_string(summary.of.state)); });
  columns.add(data_column("read_ms", Kind::time), [](const MappedProcess& summary) { return summary.of.read_ms; });
  columns.add({"age_ms", "AGE", Kind::duration, 2},
              [&state](const MappedProcess& summary) { return summary_age_ms(summary.of, state); });
  columns.add(data_column("cpu_us", Kind::count), [](const MappedProcess& summary) { return summary.of.cpu_us; });
  columns.add(data_column("wall_us", Kind::count), [](const MappedProcess& summary) { return summary.of.wall_us; });
  add_process(columns, [](const MappedProcess& summary) { return &summary.process->process->info; });
  columns.add(display_column("COMMAND"), [](const MappedProcess& summary) {
    return shown_command(summary.process->process->info, state_letter(*summary.process));
  });
  return columns;
}

// Returns the state's processes that belong to SUBJECT.
Result<std::vector<const ProcessUse*>> asked_for(const Context& context, const State& state) {
  const std::set<std::int64_t> ids = TRY(subject_ids(context, state));
  std::vector<const ProcessUse*> asked;
  for (const ProcessUse& process : state.processes) {
    if (ids.contains(process.process->id)) asked.push_back(&process);
  }
  return asked;
}

std::string name_of(const ProcessUse& process) {
  return fmt::format("{}[{}]", process.process->info.comm, process.process->info.key.pid);
}

Report without(Report report, std::string why) {
  report.nothing_recorded = true;
  report.warnings = {std::move(why)};
  return report;
}

void finish(const Context& context, const State& state, Report& report) {
  mark_sorted(report.rows, "pss_kib");
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
}

Result<Report> list_summaries(const Context& context, const State& state, std::vector<MappedProcess> summaries) {
  Report report = TRY(begin_report(context, state, "mapping summaries of processes"));
  const auto columns = summary_columns(state);
  MappingUse sum;
  for (const MappedProcess& summary : summaries) sum.add(summary.sum);
  if (summaries.empty()) {
    report.rows = make_table(columns, summaries);
    return without(std::move(report), fmt::format("no process had a mapping summary at that time: {}", kHowToRead));
  }
  report.totals.push_back({"processes", "", Kind::count, state.processes.size()});
  report.totals.push_back({"summaries", "", Kind::count, summaries.size()});
  report.notes.push_back(
      fmt::format("Summaries of {} of {}; memoir mappings PID shows one.", summaries.size(),
                  format_count(static_cast<std::int64_t>(state.processes.size()), "process", "processes")));
  report_use(sum, context.options.units, report);
  limit_rows(summaries, report, context,
             [](const MappedProcess& summary) { return summary.sum.memory.get(ProcessField::pss); }, {.of = "PSS"});
  report.rows = make_table(columns, summaries);
  finish(context, state, report);
  return report;
}

// Reports the properties of a mapping summary, except its rows.
void describe(const MappedProcess& summary, const State& state, Report& report) {
  const ProcessMappings& of = summary.of;
  const auto age = summary_age_ms(of, state);
  const ProcessInfo& info = summary.process->process->info;
  const auto fact = [&](const char* name, Kind kind, const Value& value) {
    report.facts.push_back({name, "", kind, value});
  };
  fact("pid", Kind::count, info.key.pid);
  fact("comm", Kind::text, info.comm);
  fact("process_pss_kib", Kind::size, summary.process->kib[Metric::pss]);
  fact("state", Kind::text, to_string(of.state));
  fact("read_ms", Kind::time, of.read_ms);
  fact("age_ms", Kind::duration, age);
  fact("cpu_us", Kind::count, of.cpu_us);
  fact("wall_us", Kind::count, of.wall_us);
  report.lead =
      fmt::format("Read {} earlier, in {:.1f} ms of CPU time and {:.1f} ms elapsed.", format_span(age.value_or(0)),
                  static_cast<double>(of.cpu_us) / 1000, static_cast<double>(of.wall_us) / 1000);
  if (of.state == MappingState::deferred)
    report.warnings.emplace_back("a later reading was deferred by the CPU budget: this is the previous one");
  if (of.state == MappingState::inaccessible)
    report.warnings.emplace_back("the mappings can no longer be read: this is the last reading");
}

std::string why_none(const ProcessUse& process, const MappedProcess* summary) {
  const std::string name = name_of(process);
  if (summary == nullptr) return fmt::format("the mappings of {} were not read: {}", name, kHowToRead);
  if (summary->of.state == MappingState::inaccessible)
    return fmt::format("no permission to read the mappings of {}: memoird needs CAP_SYS_PTRACE", name);
  return fmt::format("the mappings of {} were not read yet, deferred by the CPU budget; {}", name, kHowToRead);
}

Result<Report> show_summary(const Context& context, const State& state, const ProcessUse& process,
                            const std::vector<MappedProcess>& summaries) {
  Report report = TRY(begin_report(context, state, "what " + name_of(process) + " maps"));
  const auto found = std::ranges::find(summaries, &process, &MappedProcess::process);
  const MappedProcess* const summary = found == summaries.end() ? nullptr : &*found;
  if (summary == nullptr || !summary->of.read_ms) {
    report.rows = make_table(mapping_columns(), std::vector<MappingLine>());
    return without(std::move(report), why_none(process, summary));
  }
  describe(*summary, state, report);
  report_use(summary->sum, context.options.units, report);
  std::vector<MappingLine> lines = mapping_lines(summary->of.summary);
  limit_rows(lines, report, context, &MappingLine::pss_kib, {.of = "PSS", .more_lines = 2});
  report.rows = make_table(mapping_columns(), lines);
  finish(context, state, report);
  return report;
}

Result<Report> show_mappings(const Context& context, const State& state, const StoredTick& tick) {
  if (auto why = TRY(why_no_summaries(context))) return nothing_recorded(context, mapping_columns(), *std::move(why));
  std::vector<MappedProcess> summaries = TRY(load_summaries(context, state, tick));
  if (context.options.subjects.empty()) return list_summaries(context, state, std::move(summaries));
  const auto asked = TRY(asked_for(context, state));
  if (asked.size() == 1) return show_summary(context, state, *asked.front(), summaries);
  std::erase_if(summaries,
                [&](const MappedProcess& summary) { return std::ranges::find(asked, summary.process) == asked.end(); });
  return list_summaries(context, state, std::move(summaries));
}

Result<Report> run_mappings(const Context& context) {
  return answer_at_tick(
      context, {}, mapping_columns(), kSummariesExpired,
      [&](const State& state, const StoredTick& tick) { return show_mappings(context, state, tick); });
}

}  // namespace

Command mappings_command() {
  return {.name = "mappings",
          .summary = "a process's mappings at a time, by kind and name",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::limit},
          .examples = {{"memoir memory mappings", "processes with a mapping summary"},
                       {"memoir memory mappings 812 --at 03:14", "what process 812 mapped at 03:14, file by file"}},
          .run = run_mappings,
          .subject_help = fmt::format("SUBJECT: one process shows its mappings, several are listed: {}; default: all",
                                      kSubjectForms),
          .subject_words = {std::string(kCategoryNames)},
          .full_name = "memory mappings"};
}

}  // namespace memoir::query
