// memoir shm: the System V shared memory segments at one time.

#include <algorithm>
#include <fmt/format.h>

#include "query/names/owners.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "store/shmem_state.h"

namespace memoir::query {
namespace {

struct SegmentRow {
  SegmentAt at;
  std::string owner;
  std::optional<StoredProcess> creator;
  std::optional<StoredProcess> last;

  const SysvSegment& segment() const { return at.segment; }
  std::int64_t held_kib() const { return segment().rss_kib + segment().swap_kib; }
};

Value command_of(const std::optional<StoredProcess>& process) {
  return process ? Value(process->info.command) : Value();
}

Value uid_value(std::optional<std::uint32_t> uid) {
  return uid ? Value(std::int64_t{*uid}) : Value();
}

Columns<SegmentRow> segment_columns() {
  using Row = const SegmentRow&;
  Columns<SegmentRow> columns;
  columns.add({"held_kib", "IN USE", Kind::size}, [](Row row) { return row.held_kib(); });
  columns.add({"rss_kib", "RSS", Kind::size, 5}, [](Row row) { return row.segment().rss_kib; });
  columns.add({"swap_kib", "SWAP", Kind::size, 6}, [](Row row) { return row.segment().swap_kib; });
  columns.add({"size_kib", "SIZE", Kind::size, 7}, [](Row row) { return row.segment().size_kib; });
  columns.add({"growth_kib", "GROWN", Kind::change, 2}, [](Row row) { return row.held_kib() - row.at.past.first.kib; });
  columns.add({"attachments", "ATTACHED", Kind::count}, [](Row row) { return row.segment().attachments; });
  columns.add({"first_ms", "SINCE", Kind::time, 3}, [](Row row) { return row.at.first_ms; });
  columns.add(data_column("growth_from_ms", Kind::time), [](Row row) { return row.at.past.first.at_ms; });
  columns.add(data_column("detached_ms", Kind::time), [](Row row) { return row.segment().detached_ms; });
  columns.add({"owner", "OWNER", Kind::text, 4}, &SegmentRow::owner);
  columns.add(data_column("uid", Kind::count), [](Row row) { return uid_value(row.segment().uid); });
  columns.add(data_column("creator_uid", Kind::count), [](Row row) { return uid_value(row.segment().creator_uid); });
  columns.add({"shmid", "SHMID", Kind::count, 1}, [](Row row) { return row.segment().shmid; });
  columns.add(data_column("key"), [](Row row) {
    const auto key = row.segment().key;
    return key ? Value(fmt::format("0x{:08x}", *key & 0xFFFFFFFF)) : Value();
  });
  columns.add(data_column("removed"), [](Row row) { return row.segment().removed; });
  columns.add(data_column("creator_pid", Kind::count), [](Row row) { return row.segment().creator_pid; });
  columns.add(data_column("creator_command"), [](Row row) { return command_of(row.creator); });
  columns.add(data_column("last_pid", Kind::count), [](Row row) { return row.segment().last_pid; });
  columns.add(data_column("last_command"), [](Row row) { return command_of(row.last); });
  columns.add(display_column("CREATOR"), [](Row row) { return process_label(row.segment().creator_pid, row.creator); });
  columns.add(display_column("LAST USED BY", Kind::text, 8),
              [](Row row) { return process_label(row.segment().last_pid, row.last); });
  return columns;
}

Result<std::vector<SegmentRow>> load_rows(const Context& context, const State& state, const StoredTick& tick) {
  const UserNames users(state);
  std::vector<SegmentRow> rows;
  auto segments = TRY(load_segments(context.reader, tick.id));
  for (const SegmentAt& at : segments) {
    SegmentRow row;
    const SysvSegment& segment = at.segment;
    if (segment.uid) row.owner = users.of(*segment.uid);
    row.creator = TRY(process_of_pid(context, segment.creator_pid, at.first_ms, at.first_ms));
    row.last = TRY(process_of_pid(context, segment.last_pid, state.at_ms, segment.detached_ms));
    row.at = at;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater(), &SegmentRow::held_kib);
  return rows;
}

void describe(const std::vector<SegmentRow>& rows, const State& state, Units units, Report& report) {
  std::int64_t held = 0;
  std::int64_t alone = 0;
  std::int64_t alone_kib = 0;
  for (const SegmentRow& row : rows) {
    held += row.held_kib();
    if (row.segment().attachments != 0) continue;
    ++alone;
    alone_kib += row.held_kib();
  }
  report.totals = {{"segments", "", Kind::count, rows.size()},
                   {"held_kib", "", Kind::size, held},
                   {"unattached", "", Kind::count, alone},
                   {"unattached_kib", "", Kind::size, alone_kib}};
  const std::string segments = format_count(static_cast<std::int64_t>(rows.size()), "segment holds", "segments hold");
  report.notes.push_back(rows.empty() ? "There is no System V segment."
                                      : fmt::format("{} {}.", segments, format_size(held, units)));
  if (alone > 0) {
    report.notes.push_back(fmt::format("No process is attached to {} of them, {} in use: ipcrm -m SHMID frees it.",
                                       alone, format_size(alone_kib, units)));
  }
  const std::int64_t beyond = state.machine.memory.or_zero(MachineField::sysv) - held;
  if (beyond > 1024) {
    report.warnings.push_back(
        fmt::format("only the largest segments are recorded: others use {}", format_size(beyond, units)));
  }
}

// Returns false if the kernel or the recorder lacks the table of segments, or if the columns of the table are unknown.
bool is_recorded(const std::vector<SegmentRow>& rows, const State& state) {
  return !rows.empty() || state.machine.memory.get(MachineField::sysv) == 0;
}

Result<Report> show_segments(const Context& context, const State& state, const StoredTick& tick) {
  std::vector<SegmentRow> rows = TRY(load_rows(context, state, tick));
  if (!is_recorded(rows, state))
    return nothing_recorded(context, segment_columns(),
                            "no record of System V segments: the kernel does not list them in /proc/sysvipc/shm");
  Report report = TRY(begin_report(context, state, "System V shared memory segments"));
  describe(rows, state, context.options.units, report);
  limit_rows(rows, report, context, [](const SegmentRow& row) { return std::optional(row.held_kib()); },
             {.of = "memory"});
  report.rows = make_table<SegmentRow>(segment_columns(), rows, [](const SegmentRow& row) {
    return row.segment().attachments == 0 ? Tone::warning : Tone::plain;
  });
  report.rows.own_units = true;
  mark_sorted(report.rows, "held_kib");
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

Result<Report> run_shm(const Context& context) {
  return answer_at_tick(
      context, {}, segment_columns(),
      "no record of System V segments: the ticks of that time have expired, and rollups have none",
      [&](const State& state, const StoredTick& tick) { return show_segments(context, state, tick); });
}

}  // namespace

Command shm_command() {
  return {.name = "shm",
          .summary = "System V segments: size, creator, users",
          .options = {Option::at, Option::limit},
          .examples = {{"memoir memory shm", "segments, also without attached processes"},
                       {"memoir memory shm --at 03:14", "segments at 03:14"}},
          .run = run_shm,
          .full_name = "memory shm"};
}

}  // namespace memoir::query
