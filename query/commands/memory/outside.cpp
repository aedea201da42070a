// What holds memory outside of processes, as far as it was recorded, and what a reader must know of it.

#include <algorithm>
#include <fmt/format.h>

#include "query/answer/tmpfs.h"
#include "query/commands/memory/lines.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

std::vector<Line> outside_lines(const Outside& outside, std::optional<std::int64_t> total_kib) {
  std::int64_t used = 0;
  std::int64_t allocated = 0;
  for (const TmpfsSample& mount : outside.mounts) {
    used += mount.used_kib.value_or(0);
    allocated += mount.content.allocated_kib;
  }
  std::int64_t rss = 0;
  std::int64_t swap = 0;
  for (const SysvSegment& segment : outside.segments) {
    rss += segment.rss_kib;
    swap += segment.swap_kib;
  }
  std::vector<Line> lines{{"tmpfs_used", "tmpfs, by its file systems", used, kMeasured},
                          {"tmpfs_allocated", "found by walks", allocated, kMeasured, "tmpfs_used"},
                          {"sysv_rss", "SysV segments", rss, kMeasured},
                          {"sysv_swap", "SysV segments, swapped out", swap, kMeasured}};
  for (Line& line : lines) line.whole = total_kib;
  return lines;
}

void warn_of_ledgers(const std::vector<LedgerAt>& ledgers, Report& report) {
  const auto with = [&ledgers](LedgerState state) {
    return std::ranges::count_if(ledgers, [state](const LedgerAt& at) { return at.ledger.state == state; });
  };
  if (const auto closed = with(LedgerState::inaccessible); closed > 0)
    report.warnings.push_back(
        fmt::format("what {} is not permitted to be read", print_count(closed, "process maps", "processes map")));
  if (const auto waiting = with(LedgerState::deferred); waiting > 0)
    report.warnings.push_back(fmt::format("what {} was not read in time, and may be of before",
                                          print_count(waiting, "process maps", "processes map")));
}

void warn(const State& state, const Outside& outside, std::int64_t inaccessible, Report& report) {
  const auto add = [&report](std::string warning) { report.warnings.push_back(std::move(warning)); };
  if (inaccessible > 0)
    add(fmt::format("{} inaccessible: nothing of them is in the sums",
                    print_count(inaccessible, "process is", "processes are")));
  for (const TmpfsSample& mount : outside.mounts) {
    if (auto warning = walk_warning(mount)) add(*std::move(warning));
  }
  const std::int64_t malformed = state.snapshot.tick.counts.malformed;
  if (malformed > 0)
    add(fmt::format("{} could not be understood, which the recorder's log tells of",
                    print_count(malformed, "text of the kernel", "texts of the kernel")));
}

}  // namespace

Status add_outside(const Context& context, const State& state, std::int64_t inaccessible, Report& report) {
  if (state.rolled()) return Done{};
  const Outside outside = TRY(context.reader.outside(state.snapshot.tick.id));
  if (!outside.mounts.empty() || !outside.segments.empty()) {
    const auto total = state.snapshot.machine.memory.get(MachineField::mem_total);
    report.sections.push_back({"outside", "What lies outside of processes, whoever maps it",
                               make_table(line_columns("OUTSIDE", "OF ALL"), outside_lines(outside, total))});
  }
  warn(state, outside, inaccessible, report);
  warn_of_ledgers(TRY(context.reader.ledgers(state.snapshot.tick.id)), report);
  return Done{};
}

}  // namespace memoir::query
