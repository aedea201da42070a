// memoir objects --ownerless: memory that belongs to no single process, with its mappers and its creator.

#include "analysis/ownerless.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "query/commands/objects/objects.h"
#include "query/names/owners.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/mapping_summaries.h"
#include "query/state/tmpfs.h"
#include "store/mappings.h"
#include "store/shmem_state.h"

namespace memoir::query {
namespace {

using Names = std::map<ProcessKey, std::string>;

struct OwnerlessLine {
  OwnerlessMemory memory;
  std::string holder;  // the largest mapper, and the number of others
  std::string owner;
  std::string made_by;
  std::string last_used_by;

  std::optional<std::int64_t> kib() const { return memory.kib; }
};

Columns<OwnerlessLine> ownerless_columns() {
  using Row = const OwnerlessLine&;
  Columns<OwnerlessLine> columns;
  columns.add({"held_kib", "IN USE", Kind::size}, [](Row row) { return row.memory.kib; });
  columns.add({"growth_kib", "GROWN", Kind::change, 2}, [](Row row) -> Value {
    return row.memory.first ? Value(row.memory.kib - row.memory.first->kib) : Value();
  });
  columns.add({"first_ms", "SINCE", Kind::time, 5},
              [](Row row) -> Value { return row.memory.first ? Value(row.memory.first->at_ms) : Value(); });
  columns.add(data_column("maybe_older"),
              [](Row row) -> Value { return row.memory.first ? Value(row.memory.first->maybe_older) : Value(); });
  columns.add({"left_ms", "RELEASED", Kind::time, 6}, [](Row row) { return row.memory.left_ms; });
  columns.add({"kind", "KIND", Kind::text}, [](Row row) { return Value(to_string(row.memory.kind)); });
  columns.add(data_column("holders", Kind::count), [](Row row) { return row.memory.holders.size(); });
  columns.add(data_column("mappers_about", Kind::count), [](Row row) { return row.memory.mappers; });
  columns.add({"held_by", "MAPPED BY", Kind::text, 1}, &OwnerlessLine::holder);
  columns.add({"owner", "OWNER", Kind::text, 4}, &OwnerlessLine::owner);
  columns.add({"made_by", "CREATOR", Kind::text, 3}, &OwnerlessLine::made_by);
  columns.add({"last_used_by", "LAST USED BY", Kind::text, 7}, &OwnerlessLine::last_used_by);
  columns.add({"name", "NAME", Kind::text}, [](Row row) { return row.memory.name; });
  return columns;
}

struct Found {
  std::vector<ProcessMappings> summaries;
  std::vector<FirstMapping> firsts;
  Names names;
  std::vector<SeenSegment> segments;
  std::vector<SeenFile> files;
};

Result<Found> find(const Context& context, const State& state, const StoredTick& tick) {
  Found found;
  auto summaries = TRY(load_summaries(context, state, tick));
  for (MappedProcess& summary : summaries) {
    found.names[summary.of.process] = summary.process->process->info.comm;
    found.summaries.push_back(std::move(summary.of));
  }
  const std::int64_t tick_id = tick.id;
  found.firsts = TRY(load_first_mappings(context.reader, tick_id));
  const auto segments = TRY(load_segments(context.reader, tick_id));
  for (const SegmentAt& at : segments) found.segments.push_back({at.segment, {at.first_ms, at.past.first.kib}});
  const auto mounts = TRY(load_tmpfs(context.reader, tick_id, 0));
  for (const TmpfsAt& mount : mounts) {
    for (const TmpfsEntryAt& at : mount.entries) {
      found.files.push_back({full_path(mount.sample, at.entry), at.entry, {at.past.first.at_ms, at.past.first.kib}});
    }
  }
  return found;
}

std::string largest_of(const OwnerlessMemory& memory, const Names& names) {
  if (memory.holders.empty()) return "";
  const Consumer& first = memory.holders.front();
  const std::size_t more = memory.holders.size() - 1;
  const bool is_all = static_cast<std::size_t>(memory.mappers) <= memory.holders.size();
  return fmt::format("{}[{}]{}{}", names.at(first.process), first.process.pid,
                     more == 0 ? "" : fmt::format(" +{}", more),
                     is_all ? "" : fmt::format(" of about {}", memory.mappers));
}

Result<std::vector<OwnerlessLine>> lines_of(const Context& context, const State& state, const Found& found) {
  const UserNames users(state);
  const std::int64_t now_ms = state.at_ms;
  std::vector<OwnerlessLine> lines;
  for (OwnerlessMemory& memory : ownerless_memory(found.summaries, found.firsts, found.segments, found.files)) {
    OwnerlessLine line;
    line.holder = largest_of(memory, found.names);
    if (memory.uid) line.owner = users.of(*memory.uid);
    if (memory.made_by) {
      const std::int64_t seen_ms = memory.first ? memory.first->at_ms : now_ms;
      line.made_by = process_label(*memory.made_by, TRY(process_of_pid(context, *memory.made_by, seen_ms, seen_ms)));
    }
    if (memory.last_used_by)
      line.last_used_by = process_label(*memory.last_used_by,
                                        TRY(process_of_pid(context, *memory.last_used_by, now_ms, memory.left_ms)));
    line.memory = std::move(memory);
    lines.push_back(std::move(line));
  }
  return lines;
}

// Notes mappings in the first mapping summary of a process: they may have existed before it.
void note_older(const std::vector<OwnerlessLine>& lines, Report& report) {
  const auto older = std::ranges::count_if(
      lines, [](const OwnerlessLine& line) { return line.memory.first && line.memory.first->maybe_older; });
  if (older == 0) return;
  report.notes.push_back(fmt::format("{} already in the first mapping summaries, and may be older.",
                                     format_count(older, "mapping was", "mappings were")));
}

}  // namespace

Result<Report> show_ownerless(const Context& context, const State& state, const StoredTick& tick) {
  const Found found = TRY(find(context, state, tick));
  std::vector<OwnerlessLine> lines = TRY(lines_of(context, state, found));
  Report report = TRY(begin_report(context, state, "memory without a process"));
  if (found.summaries.empty())
    report.warnings.push_back("no mappings of processes are known, so deleted files and memfds are not listed");
  report.notes.push_back(
      "Files in tmpfs and mappings of known size count in full. Other mappings count only as far as their largest "
      "mapper uses them.");
  note_older(lines, report);
  limit_rows(lines, report, context, &OwnerlessLine::kib, {.of = "memory", .more_lines = 1});
  report.rows = make_table(ownerless_columns(), lines);
  report.rows.own_units = true;
  mark_sorted(report.rows, "held_kib");
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

}  // namespace memoir::query
