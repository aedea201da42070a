#include "query/commands/objects/objects.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "analysis/shared_objects.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/mapping_summaries.h"
#include "store/shmem_state.h"

namespace memoir::query {
namespace {

struct ObjectLine {
  MappingKind kind = MappingKind::other;
  std::optional<std::string> label;  // nullopt: a sum without a label
  MappingUse use;
  std::int64_t memory_kib = 0;               // memory of the object itself, not of its mappers
  std::optional<std::int64_t> mappers = {};  // number of known mappers; nullopt if it is unknown
  std::int64_t mappers_about = 0;            // approximate number of all mappers, at least the known ones
  std::vector<Consumer> consumers = {};      // processes that map it, the largest PSS first
  std::string largest = {};

  std::optional<std::int64_t> kib() const { return memory_kib; }
};

struct ConsumerLine {
  const ObjectLine* object = nullptr;
  Consumer consumer;
  std::string comm;
};

using Names = std::map<ProcessKey, std::string>;

// Returns "24 of ~101" if mapping summaries of the other mappers were not read.
std::string shown_mappers(const ObjectLine& line) {
  if (!line.mappers) return "";
  if (*line.mappers >= line.mappers_about) return std::to_string(*line.mappers);
  return fmt::format("{} of ~{}", *line.mappers, line.mappers_about);
}

Columns<ObjectLine> object_columns() {
  Columns<ObjectLine> columns;
  columns.add({"memory_kib", "MEMORY", Kind::size}, &ObjectLine::memory_kib);
  add_use(columns, [](const ObjectLine& line) -> const MappingUse& { return line.use; });
  columns.add(data_column("mappers", Kind::count), &ObjectLine::mappers);
  columns.add(data_column("mappers_about", Kind::count), &ObjectLine::mappers_about);
  columns.add(display_column("MAPPERS"), &shown_mappers);
  columns.add({"largest", "LARGEST", Kind::text, 2}, &ObjectLine::largest);
  columns.add({"kind", "KIND", Kind::text, 1}, [](const ObjectLine& line) { return Value(to_string(line.kind)); });
  columns.add(data_column("label"), &ObjectLine::label);
  columns.add(data_column("others"), [](const ObjectLine& line) { return !line.label.has_value(); });
  columns.add(data_column("deleted"), [](const ObjectLine& line) { return is_deleted(line.label); });
  columns.add(display_column("OBJECT"), [](const ObjectLine& line) { return shown_label(line.kind, line.label); });
  return columns;
}

Columns<ConsumerLine> consumer_columns() {
  return {
      {data_column("kind"), [](const ConsumerLine& line) { return Value(to_string(line.object->kind)); }},
      {data_column("label"), [](const ConsumerLine& line) { return Value(line.object->label); }},
      {data_column("pid", Kind::count), [](const ConsumerLine& line) { return Value(line.consumer.process.pid); }},
      {data_column("comm"), [](const ConsumerLine& line) { return Value(line.comm); }},
      {data_column("regions", Kind::count), [](const ConsumerLine& line) { return Value(line.consumer.regions); }},
      {data_column("pss_kib", Kind::size), [](const ConsumerLine& line) { return Value(line.consumer.pss_kib); }},
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
    ObjectLine line{object.row.name.kind, std::move(object.row.name.label), object.row.use, object.memory_kib()};
    line.mappers = static_cast<std::int64_t>(object.consumers.size());
    line.mappers_about = object.mappers();
    const ProcessKey& largest = object.consumers.front().process;
    line.largest = fmt::format("{}[{}]", names.at(largest), largest.pid);
    line.consumers = std::move(object.consumers);
    lines.push_back(std::move(line));
  }
  for (std::size_t kind = 0; kind < kMappingKinds; ++kind) {
    const MappingUse& others = objects.others.at(kind);
    if (others.regions > 0) lines.push_back({static_cast<MappingKind>(kind), std::nullopt, others, others.pss_kib()});
  }
  return lines;
}

// Adds the memory of segments by name; private segments, which have no key, share one name. The memory of a segment is
// known with or without a mapping summary. Segments without attachments are in a line of their own, without mappers.
void add_segments(const std::vector<SysvSegment>& segments, std::vector<ObjectLine>& lines) {
  std::map<std::pair<std::string, bool>, MappingUse> by_label;
  for (const SysvSegment& segment : segments) {
    // The name that smaps shows (ipc/shm.c, newseg).
    const std::string label = segment.key
                                  ? fmt::format("/SYSV{:08x} (deleted)", static_cast<std::uint32_t>(*segment.key))
                                  : "/SYSV? (deleted)";
    MappingUse& sum = by_label[{label, segment.attachments != 0}];
    sum.size_kib += segment.size_kib.value_or(0);
    sum.memory.set(ProcessField::rss, sum.memory.or_zero(ProcessField::rss) + segment.rss_kib);
    sum.memory.set(ProcessField::swap, sum.memory.or_zero(ProcessField::swap) + segment.swap_kib);
  }
  for (const auto& [key, use] : by_label) {
    const std::string& label = key.first;
    const bool is_attached = key.second;
    const std::int64_t memory_kib = use.memory.or_zero(ProcessField::rss);
    const auto line = std::ranges::find_if(lines, [&](const ObjectLine& of) {
      return of.kind == MappingKind::sysv && of.label == label && of.mappers.value_or(0) > 0;
    });
    if (is_attached && line != lines.end()) {
      line->memory_kib = memory_kib;
      continue;
    }
    ObjectLine& added = lines.emplace_back(ObjectLine{MappingKind::sysv, label, use, memory_kib});
    if (!is_attached) added.mappers = 0;
  }
}

// Reports the coverage of the answer: the share of all processes' PSS that belongs to processes with a mapping summary.
void report_share(const std::vector<MappedProcess>& summaries, const State& state, Report& report) {
  std::int64_t all_kib = 0;
  std::int64_t of_kib = 0;
  std::int64_t oldest_ms = 0;
  std::int64_t inaccessible = 0;
  std::int64_t read = 0;
  for (const ProcessUse& process : state.processes) all_kib += process.kib[Metric::pss].value_or(0);
  for (const MappedProcess& summary : summaries) {
    if (summary.of.state == MappingState::inaccessible) ++inaccessible;
    if (!summary.of.read_ms) continue;
    ++read;
    of_kib += summary.process->kib[Metric::pss].value_or(0);
    oldest_ms = std::max(oldest_ms, summary_age_ms(summary.of, state).value_or(0));
  }
  const double share = all_kib == 0 ? 0 : 100.0 * static_cast<double>(of_kib) / static_cast<double>(all_kib);
  report.totals = {{"processes", "", Kind::count, state.processes.size()},
                   {"summaries", "", Kind::count, read},
                   {"inaccessible", "", Kind::count, inaccessible},
                   {"summaries_pss_percent", "", Kind::percent, share},
                   {"oldest_age_ms", "", Kind::duration, oldest_ms}};
  report.notes.push_back(
      fmt::format("From mapping summaries of {} of {}, with {} of the PSS; the oldest was read {} earlier.", read,
                  format_count(static_cast<std::int64_t>(state.processes.size()), "process", "processes"),
                  format_percent(share), format_span(oldest_ms)));
}

// Returns all processes that map the shown objects, for machine-readable formats.
Section consumers_of(const std::vector<ObjectLine>& lines, const Names& names) {
  std::vector<ConsumerLine> consumers;
  for (const ObjectLine& line : lines) {
    for (const Consumer& consumer : line.consumers) consumers.push_back({&line, consumer, names.at(consumer.process)});
  }
  return {"consumers", "", make_table(consumer_columns(), consumers)};
}

Result<Report> show_objects(const Context& context, const State& state, const StoredTick& tick) {
  std::vector<MappedProcess> summaries = TRY(load_summaries(context, state, tick));
  Names names;
  std::vector<ProcessMappings> folded;
  folded.reserve(summaries.size());
  for (const MappedProcess& summary : summaries) {
    names[summary.of.process] = summary.process->process->info.comm;
    folded.push_back(summary.of);
  }
  std::vector<ObjectLine> lines = lines_of(fold_objects(folded), names);
  const ShmemState shmem = TRY(load_shmem_state(context.reader, tick.id));
  add_segments(shmem.segments, lines);
  std::ranges::stable_sort(lines, std::greater(), &ObjectLine::memory_kib);
  const std::vector<std::string>& kinds = context.options.kinds;
  std::erase_if(lines, [&](const ObjectLine& line) {
    return !kinds.empty() && std::ranges::find(kinds, to_string(line.kind)) == kinds.end();
  });
  MappingUse sum;
  for (const ObjectLine& line : lines) sum.add(line.use);

  Report report = TRY(begin_report(context, state, "what processes map"));
  report_share(summaries, state, report);
  report_use(sum, context.options.units, report);
  limit_rows(lines, report, context, &ObjectLine::kib, {.of = "memory", .more_lines = 1});
  report.rows = make_table(object_columns(), lines);
  report.sections.push_back(consumers_of(lines, names));
  mark_sorted(report.rows, "memory_kib");
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

Result<Report> run_objects(const Context& context) {
  return answer_at_tick(context, {}, object_columns(), kSummariesExpired,
                        [&](const State& state, const StoredTick& tick) -> Result<Report> {
                          if (context.options.ownerless) return show_ownerless(context, state, tick);
                          if (auto why = TRY(why_no_summaries(context)))
                            return nothing_recorded(context, object_columns(), *std::move(why));
                          return show_objects(context, state, tick);
                        });
}

}  // namespace

Command objects_command() {
  return {
      .name = "objects",
      .summary = "shared mappings and the processes that map them",
      .options = {Option::at, Option::kind, Option::ownerless, Option::limit},
      .examples = {{"memoir memory shared --kind memfd --kind tmpfs", "shared memory and the processes that map it"},
                   {"memoir memory shared --at 03:14 --json", "all shared mappings at 03:14, with their processes"},
                   {"memoir memory shared --ownerless", "memory without an owner, and its last users"}},
      .run = run_objects,
      .kinds = kind_names(),
      .full_name = "memory shared"};
}

}  // namespace memoir::query
