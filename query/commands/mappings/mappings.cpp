// memoir mappings: what a process mapped at one time, by kind and name.

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "query/names/subject_word.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/ledgers.h"
#include "query/state/limit.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

// Of a ledger: the mappings of one name; without a label those beyond the largest of their kind.
struct MappingLine {
  MappingKind kind = MappingKind::other;
  std::optional<std::string> label;
  MappingUse use;

  std::optional<std::int64_t> pss_kib() const { return use.memory.get(ProcessField::pss); }
};

Columns<MappingLine> mapping_columns() {
  Columns<MappingLine> columns;
  add_use(columns, [](const MappingLine& line) -> const MappingUse& { return line.use; });
  columns.add({"kind", "KIND", Kind::text, 1}, [](const MappingLine& line) { return Value(to_string(line.kind)); });
  columns.add(for_machines("label"), &MappingLine::label);
  columns.add(for_machines("others"), [](const MappingLine& line) { return !line.label.has_value(); });
  columns.add(for_machines("deleted"), [](const MappingLine& line) { return is_deleted(line.label); });
  columns.add(for_people("NAME"), [](const MappingLine& line) { return shown_label(line.kind, line.label); });
  return columns;
}

Columns<HeldLedger> ledger_columns(const State& state) {
  Columns<HeldLedger> columns;
  add_use(columns, [](const HeldLedger& ledger) -> const MappingUse& { return ledger.sum; });
  columns.add({"state", "STATE", Kind::text, 1},
              [](const HeldLedger& ledger) { return Value(to_string(ledger.of.state)); });
  columns.add(for_machines("read_ms", Kind::time), [](const HeldLedger& ledger) { return ledger.of.read_ms; });
  columns.add({"age_ms", "AGE", Kind::duration, 2},
              [&state](const HeldLedger& ledger) { return ledger_age_ms(ledger.of, state); });
  columns.add(for_machines("cpu_us", Kind::count), [](const HeldLedger& ledger) { return ledger.of.cpu_us; });
  columns.add(for_machines("wall_us", Kind::count), [](const HeldLedger& ledger) { return ledger.of.wall_us; });
  add_process(columns, [](const HeldLedger& ledger) { return &ledger.process->process->info; });
  columns.add(for_people("COMMAND"), [](const HeldLedger& ledger) {
    return shown_command(ledger.process->process->info, state_letter(*ledger.process));
  });
  return columns;
}

// The processes of the state that SUBJECT is about.
Result<std::vector<const HeldProcess*>> asked_for(const Context& context, const State& state) {
  const std::set<std::int64_t> ids = TRY(subject_ids(context, state));
  std::vector<const HeldProcess*> asked;
  for (const HeldProcess& process : state.processes) {
    if (ids.contains(process.process->id)) asked.push_back(&process);
  }
  return asked;
}

std::string name_of(const HeldProcess& process) {
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

Result<Report> list_ledgers(const Context& context, const State& state, std::vector<HeldLedger> ledgers) {
  Report report = TRY(begin_report(context, state, "ledgers of what processes map"));
  const auto columns = ledger_columns(state);
  MappingUse sum;
  for (const HeldLedger& ledger : ledgers) sum.add(ledger.sum);
  if (ledgers.empty()) {
    report.rows = make_table(columns, ledgers);
    return without(std::move(report), fmt::format("no process had a ledger then: {}", kHowToRead));
  }
  report.totals.push_back({"processes", "", Kind::count, state.processes.size()});
  report.totals.push_back({"ledgers", "", Kind::count, ledgers.size()});
  report.notes.push_back(
      fmt::format("Ledgers of {} of {}; `memoir mappings PID` shows one.", ledgers.size(),
                  print_count(static_cast<std::int64_t>(state.processes.size()), "process", "processes")));
  report_use(sum, context.options.units, report);
  limit_rows(ledgers, report, context,
             [](const HeldLedger& ledger) { return ledger.sum.memory.get(ProcessField::pss); }, {.of = "PSS"});
  report.rows = make_table(columns, ledgers);
  finish(context, state, report);
  return report;
}

// What is known of a ledger but for its rows.
void describe(const HeldLedger& ledger, const State& state, Report& report) {
  const ProcessLedger& of = ledger.of;
  const auto age = ledger_age_ms(of, state);
  const ProcessInfo& info = ledger.process->process->info;
  const auto fact = [&](const char* name, Kind kind, const Value& value) {
    report.facts.push_back({name, "", kind, value});
  };
  fact("pid", Kind::count, info.key.pid);
  fact("comm", Kind::text, info.comm);
  fact("process_pss_kib", Kind::size, ledger.process->kib[Metric::pss]);
  fact("state", Kind::text, to_string(of.state));
  fact("read_ms", Kind::time, of.read_ms);
  fact("age_ms", Kind::duration, age);
  fact("cpu_us", Kind::count, of.cpu_us);
  fact("wall_us", Kind::count, of.wall_us);
  report.lead =
      fmt::format("Read {} before; it took {:.1f} ms of processor time, {:.1f} ms in all.", print_span(age.value_or(0)),
                  static_cast<double>(of.cpu_us) / 1000, static_cast<double>(of.wall_us) / 1000);
  if (of.state == LedgerState::deferred)
    report.warnings.emplace_back("it was its turn since, but the budget was used up: this is what was read before");
  if (of.state == LedgerState::inaccessible)
    report.warnings.emplace_back("it may not be read any more: this is what was read before");
}

std::string why_none(const HeldProcess& process, const HeldLedger* ledger) {
  const std::string who = name_of(process);
  if (ledger == nullptr) return fmt::format("what {} maps was not read: {}", who, kHowToRead);
  if (ledger->of.state == LedgerState::inaccessible)
    return fmt::format("what {} maps may not be read: memoird needs CAP_SYS_PTRACE for it", who);
  return fmt::format("what {} maps was not read yet: the budget was used up when it was its turn; {}", who, kHowToRead);
}

std::vector<MappingLine> lines_of(const MappingLedger& ledger) {
  std::vector<MappingLine> lines;
  lines.reserve(ledger.rows.size() + kMappingKinds);
  for (const MappingRow& row : ledger.rows) lines.push_back({row.name.kind, row.name.label, row.use});
  for (std::size_t kind = 0; kind < kMappingKinds; ++kind) {
    const MappingUse& others = ledger.others.at(kind);
    if (others.regions > 0) lines.push_back({static_cast<MappingKind>(kind), std::nullopt, others});
  }
  std::ranges::stable_sort(lines, std::greater(), [](const MappingLine& line) { return line.use.pss_kib(); });
  return lines;
}

Result<Report> show_ledger(const Context& context, const State& state, const HeldProcess& process,
                           const std::vector<HeldLedger>& ledgers) {
  Report report = TRY(begin_report(context, state, "what " + name_of(process) + " maps"));
  const auto found = std::ranges::find(ledgers, &process, &HeldLedger::process);
  const HeldLedger* const ledger = found == ledgers.end() ? nullptr : &*found;
  if (ledger == nullptr || !ledger->of.read_ms) {
    report.rows = make_table(mapping_columns(), std::vector<MappingLine>());
    return without(std::move(report), why_none(process, ledger));
  }
  describe(*ledger, state, report);
  report_use(ledger->sum, context.options.units, report);
  std::vector<MappingLine> lines = lines_of(ledger->of.ledger);
  limit_rows(lines, report, context, &MappingLine::pss_kib, {.of = "PSS", .more_lines = 2});
  report.rows = make_table(mapping_columns(), lines);
  finish(context, state, report);
  return report;
}

Result<Report> show_mappings(const Context& context, const State& state, const TickState& tick) {
  if (auto why = TRY(why_no_ledgers(context))) return nothing_recorded(context, mapping_columns(), *std::move(why));
  std::vector<HeldLedger> ledgers = TRY(load_ledgers(context, state, tick));
  if (context.options.subjects.empty()) return list_ledgers(context, state, std::move(ledgers));
  const auto asked = TRY(asked_for(context, state));
  if (asked.size() == 1) return show_ledger(context, state, *asked.front(), ledgers);
  std::erase_if(ledgers,
                [&](const HeldLedger& ledger) { return std::ranges::find(asked, ledger.process) == asked.end(); });
  return list_ledgers(context, state, std::move(ledgers));
}

Result<Report> run_mappings(const Context& context) {
  return answer_at_tick(context, {}, mapping_columns(), kLedgersGone,
                        [&](const State& state, const TickState& tick) { return show_mappings(context, state, tick); });
}

}  // namespace

Command mappings_command() {
  return {.name = "mappings",
          .summary = "what a process mapped at one time, by kind and name",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::limit},
          .examples = {{"memoir mappings", "of which processes it is known what they map"},
                       {"memoir mappings 812 --at 03:14", "what process 812 mapped at 03:14, file by file"}},
          .run = run_mappings,
          .subject_help = fmt::format(
              "SUBJECT: the process whose ledger is shown, or those whose ledgers are listed: {}; by default all",
              kSubjectForms),
          .subject_words = {std::string(kCategoryNames)}};
}

}  // namespace memoir::query
