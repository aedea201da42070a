#include "query/commands/objects/objects.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "analysis/shared_objects.h"
#include "query/report/format.h"
#include "query/state/ledgers.h"
#include "query/state/limit.h"
#include "store/outside.h"

namespace memoir::query {
namespace {

struct ObjectLine {
  MappingKind kind = MappingKind::other;
  std::optional<std::string> label;  // absent: what ledgers sum without one
  MappingUse use;
  std::optional<std::int64_t> mappers;
  std::vector<Consumer> consumers;  // the largest PSS first
  std::string largest;

  std::optional<std::int64_t> pss_kib() const { return use.memory.get(ProcessField::pss); }
};

// One process of one object.
struct ConsumerLine {
  const ObjectLine* object = nullptr;
  Consumer consumer;
  std::string comm;
};

using Names = std::map<ProcessKey, std::string>;

Columns<ObjectLine> object_columns() {
  Columns<ObjectLine> columns;
  add_use(columns, [](const ObjectLine& line) -> const MappingUse& { return line.use; });
  columns.add({"mappers", "MAPPERS", Kind::count, 1}, &ObjectLine::mappers);
  columns.add({"largest", "LARGEST", Kind::text, 2}, &ObjectLine::largest);
  columns.add({"kind", "KIND", Kind::text, 1}, [](const ObjectLine& line) { return Value(to_string(line.kind)); });
  columns.add(for_machines("label"), &ObjectLine::label);
  columns.add(for_machines("others"), [](const ObjectLine& line) { return !line.label.has_value(); });
  columns.add(for_machines("deleted"), [](const ObjectLine& line) { return is_deleted(line.label); });
  columns.add(for_people("OBJECT"), [](const ObjectLine& line) { return shown_label(line.kind, line.label); });
  return columns;
}

Columns<ConsumerLine> consumer_columns() {
  return {
      {for_machines("kind"), [](const ConsumerLine& line) { return Value(to_string(line.object->kind)); }},
      {for_machines("label"), [](const ConsumerLine& line) { return Value(line.object->label); }},
      {for_machines("pid", Kind::count), [](const ConsumerLine& line) { return Value(line.consumer.process.pid); }},
      {for_machines("comm"), [](const ConsumerLine& line) { return Value(line.comm); }},
      {for_machines("regions", Kind::count), [](const ConsumerLine& line) { return Value(line.consumer.regions); }},
      {for_machines("pss_kib", Kind::size), [](const ConsumerLine& line) { return Value(line.consumer.pss_kib); }},
  };
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (std::size_t kind = 0; kind < kMappingKinds; ++kind)
    names.emplace_back(to_string(static_cast<MappingKind>(kind)));
  return names;
}

std::vector<ObjectLine> lines_of(SharedObjects objects, const Names& names) {
  std::vector<ObjectLine> lines;
  lines.reserve(objects.objects.size() + kMappingKinds);
  for (SharedObject& object : objects.objects) {
    ObjectLine line{object.row.name.kind, std::move(object.row.name.label), object.row.use, {}, {}, {}};
    line.mappers = static_cast<std::int64_t>(object.consumers.size());
    const ProcessKey& largest = object.consumers.front().process;
    line.largest = fmt::format("{}[{}]", names.at(largest), largest.pid);
    line.consumers = std::move(object.consumers);
    lines.push_back(std::move(line));
  }
  for (std::size_t kind = 0; kind < kMappingKinds; ++kind) {
    const MappingUse& others = objects.others.at(kind);
    if (others.regions > 0) lines.push_back({static_cast<MappingKind>(kind), std::nullopt, others, {}, {}, {}});
  }
  std::ranges::stable_sort(lines, std::greater(), [](const ObjectLine& line) { return line.use.pss_kib(); });
  return lines;
}

// System V segments that no ledger has: who is attached to them is not known, and so no part of them is anybody's.
void add_segments(const std::vector<SysvSegment>& segments, std::vector<ObjectLine>& lines) {
  std::map<std::string, MappingUse> unmapped;
  for (const SysvSegment& segment : segments) {
    // As smaps names it (ipc/shm.c, newseg).
    const std::string label = fmt::format("/SYSV{:08x} (deleted)", static_cast<std::uint32_t>(segment.key));
    const auto is_it = [&](const ObjectLine& line) { return line.kind == MappingKind::sysv && line.label == label; };
    if (std::ranges::any_of(lines, is_it)) continue;
    MappingUse use;
    use.size_kib = segment.size_kib;
    use.memory.set(ProcessField::rss, segment.rss_kib);
    use.memory.set(ProcessField::swap, segment.swap_kib);
    unmapped[label].add(use);
  }
  for (const auto& [label, use] : unmapped) lines.push_back({MappingKind::sysv, label, use, {}, {}, {}});
}

// Of how much of the machine the answer is: of the PSS of all processes those have so much whose ledgers there are.
void report_share(const std::vector<HeldLedger>& ledgers, const State& state, Report& report) {
  std::int64_t all_kib = 0;
  std::int64_t of_kib = 0;
  std::int64_t oldest_ms = 0;
  std::int64_t inaccessible = 0;
  std::int64_t read = 0;
  for (const HeldProcess& process : state.processes) all_kib += process.kib[Metric::pss].value_or(0);
  for (const HeldLedger& ledger : ledgers) {
    if (ledger.of.state == LedgerState::inaccessible) ++inaccessible;
    if (!ledger.of.read_ms) continue;
    ++read;
    of_kib += ledger.process->kib[Metric::pss].value_or(0);
    oldest_ms = std::max(oldest_ms, ledger_age_ms(ledger.of, state).value_or(0));
  }
  const double share = all_kib == 0 ? 0 : 100.0 * static_cast<double>(of_kib) / static_cast<double>(all_kib);
  report.totals = {{"processes", "", Kind::count, state.processes.size()},
                   {"ledgers", "", Kind::count, read},
                   {"inaccessible", "", Kind::count, inaccessible},
                   {"ledger_pss_percent", "", Kind::percent, share},
                   {"oldest_age_ms", "", Kind::duration, oldest_ms}};
  report.notes.push_back(
      fmt::format("By the ledgers of {} of {}, which hold {} of the PSS; the oldest was read {} before.", read,
                  print_count(static_cast<std::int64_t>(state.processes.size()), "process", "processes"),
                  print_percent(share), print_span(oldest_ms)));
}

// For machines: all who map what is shown.
Section consumers_of(const std::vector<ObjectLine>& lines, const Names& names) {
  std::vector<ConsumerLine> consumers;
  for (const ObjectLine& line : lines) {
    for (const Consumer& consumer : line.consumers) consumers.push_back({&line, consumer, names.at(consumer.process)});
  }
  return {"consumers", "", make_table(consumer_columns(), consumers)};
}

Result<Report> show_objects(const Context& context, const State& state, const TickState& tick) {
  std::vector<HeldLedger> ledgers = TRY(load_ledgers(context, state, tick));
  Names names;
  std::vector<ProcessLedger> folded;
  folded.reserve(ledgers.size());
  for (const HeldLedger& ledger : ledgers) {
    names[ledger.of.process] = ledger.process->process->info.comm;
    folded.push_back(ledger.of);
  }
  std::vector<ObjectLine> lines = lines_of(fold_objects(folded), names);
  const Outside outside = TRY(load_outside(context.reader, tick.tick.id));
  add_segments(outside.segments, lines);
  const std::vector<std::string>& kinds = context.options.kinds;
  std::erase_if(lines, [&](const ObjectLine& line) {
    return !kinds.empty() && std::ranges::find(kinds, to_string(line.kind)) == kinds.end();
  });
  MappingUse sum;
  for (const ObjectLine& line : lines) sum.add(line.use);

  Report report = TRY(begin_report(context, state, "what processes map"));
  report_share(ledgers, state, report);
  report_use(sum, context.options.units, report);
  limit_rows(lines, report, context, &ObjectLine::pss_kib, {.of = "PSS", .more_lines = 1});
  report.rows = make_table(object_columns(), lines);
  report.sections.push_back(consumers_of(lines, names));
  mark_sorted(report.rows, "pss_kib");
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

Result<Report> run_objects(const Context& context) {
  return answer_at_tick(context, {}, object_columns(), kLedgersGone,
                        [&](const State& state, const TickState& tick) -> Result<Report> {
                          if (context.options.ownerless) return show_ownerless(context, state, tick);
                          if (auto why = TRY(why_no_ledgers(context)))
                            return nothing_recorded(context, object_columns(), *std::move(why));
                          return show_objects(context, state, tick);
                        });
}

}  // namespace

Command objects_command() {
  return {.name = "objects",
          .summary = "what processes mapped together at one time, and who mapped it",
          .options = {Option::at, Option::kind, Option::ownerless, Option::limit},
          .examples = {{"memoir objects --kind memfd --kind tmpfs", "which shared memory is mapped, and by whom"},
                       {"memoir objects --at 03:14 --json", "all that was mapped at 03:14, with every process of it"},
                       {"memoir objects --ownerless", "which memory nobody has as his own, and who left it behind"}},
          .run = run_objects,
          .kinds = kind_names()};
}

}  // namespace memoir::query
