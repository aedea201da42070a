// memoir shm: the System V shared memory segments at one time.

#include <algorithm>
#include <fmt/format.h>

#include "query/names/people.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "store/outside.h"

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

Columns<SegmentRow> segment_columns() {
  using Row = const SegmentRow&;
  Columns<SegmentRow> columns;
  columns.add({"held_kib", "HELD", Kind::size}, [](Row row) { return row.held_kib(); });
  columns.add({"rss_kib", "RSS", Kind::size, 5}, [](Row row) { return row.segment().rss_kib; });
  columns.add({"swap_kib", "SWAP", Kind::size, 6}, [](Row row) { return row.segment().swap_kib; });
  columns.add({"size_kib", "SIZE", Kind::size, 7}, [](Row row) { return row.segment().size_kib; });
  columns.add({"growth_kib", "GROWN", Kind::change, 2}, [](Row row) { return row.held_kib() - row.at.past.first.kib; });
  columns.add({"attachments", "ATTACHED", Kind::count}, [](Row row) { return row.segment().attachments; });
  columns.add({"first_ms", "SINCE", Kind::time, 3}, [](Row row) { return row.at.first_ms; });
  columns.add(for_machines("growth_from_ms", Kind::time), [](Row row) { return row.at.past.first.at_ms; });
  columns.add(for_machines("detached_ms", Kind::time), [](Row row) { return row.segment().detached_ms; });
  columns.add({"owner", "OWNER", Kind::text, 4}, &SegmentRow::owner);
  columns.add(for_machines("uid", Kind::count), [](Row row) { return std::int64_t{row.segment().uid}; });
  columns.add(for_machines("creator_uid", Kind::count),
              [](Row row) { return std::int64_t{row.segment().creator_uid}; });
  columns.add({"shmid", "SHMID", Kind::count, 1}, [](Row row) { return row.segment().shmid; });
  columns.add(for_machines("key"), [](Row row) { return fmt::format("0x{:08x}", row.segment().key & 0xFFFFFFFF); });
  columns.add(for_machines("removed"), [](Row row) { return row.segment().removed; });
  columns.add(for_machines("creator_pid", Kind::count), [](Row row) { return row.segment().creator_pid; });
  columns.add(for_machines("creator_command"), [](Row row) { return command_of(row.creator); });
  columns.add(for_machines("last_pid", Kind::count), [](Row row) { return row.segment().last_pid; });
  columns.add(for_machines("last_command"), [](Row row) { return command_of(row.last); });
  columns.add(for_people("MADE BY"), [](Row row) { return who(row.segment().creator_pid, row.creator); });
  columns.add(for_people("LAST USED BY", Kind::text, 8), [](Row row) { return who(row.segment().last_pid, row.last); });
  return columns;
}

Result<std::vector<SegmentRow>> load_rows(const Context& context, const State& state, const TickState& tick) {
  const UserNames users(state);
  std::vector<SegmentRow> rows;
  auto segments = TRY(load_segments(context.reader, tick.tick.id));
  for (const SegmentAt& at : segments) {
    SegmentRow row;
    const SysvSegment& segment = at.segment;
    row.owner = users.of(segment.uid);
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
    if (row.segment().attachments > 0) continue;
    ++alone;
    alone_kib += row.held_kib();
  }
  report.totals = {{"segments", "", Kind::count, rows.size()},
                   {"held_kib", "", Kind::size, held},
                   {"unattached", "", Kind::count, alone},
                   {"unattached_kib", "", Kind::size, alone_kib}};
  const std::string segments = print_count(static_cast<std::int64_t>(rows.size()), "segment holds", "segments hold");
  report.notes.push_back(rows.empty() ? "There is no System V segment."
                                      : fmt::format("{} {}.", segments, print_size(held, units)));
  if (alone > 0) {
    report.notes.push_back(fmt::format("Nobody is attached to {} of them, with {}: ipcrm -m SHMID gives that back.",
                                       alone, print_size(alone_kib, units)));
  }
  const std::int64_t beyond = state.machine.memory.or_zero(MachineField::sysv) - held;
  if (beyond > 1024) {
    report.warnings.push_back(
        fmt::format("only the largest segments are recorded: others hold {}", print_size(beyond, units)));
  }
}

// A table of a kernel or a recorder that has none, or one whose columns are not known.
bool is_recorded(const std::vector<SegmentRow>& rows, const State& state) {
  return !rows.empty() || state.machine.memory.get(MachineField::sysv) == 0;
}

Result<Report> show_segments(const Context& context, const State& state, const TickState& tick) {
  std::vector<SegmentRow> rows = TRY(load_rows(context, state, tick));
  if (!is_recorded(rows, state))
    return nothing_recorded(context, segment_columns(),
                            "nothing of System V segments was recorded: the kernel has none of them");
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
      "nothing of System V segments was recorded: the ticks of that time are gone, and rollups do not "
      "tell of them",
      [&](const State& state, const TickState& tick) { return show_segments(context, state, tick); });
}

}  // namespace

Command shm_command() {
  return {.name = "shm",
          .summary = "System V shared memory segments: what they hold, who made and who uses them",
          .options = {Option::at, Option::limit},
          .examples = {{"memoir shm", "which segments there are now, and which nobody is attached to"},
                       {"memoir shm --at 03:14", "what they held at 03:14"}},
          .run = run_shm};
}

}  // namespace memoir::query
