// memoir memory: where all the memory of the machine is, by the kernel's counts; beside them what processes hold, and
// swap.

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "analysis/grouping.h"
#include "analysis/machine_parts.h"
#include "model/memory_breakdown.h"
#include "model/metric.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/moment.h"
#include "query/state/state.h"
#include "query/state/tmpfs.h"
#include "store/mappings.h"
#include "store/outside.h"

namespace memoir::query {

namespace {

using M = MachineField;
using Kib = std::optional<std::int64_t>;

// One sum, with where it is from and what it is a share of.
struct Line {
  std::string name;
  std::string title;
  std::optional<std::int64_t> kib;
  std::string_view how;
  std::string of = {};
  std::optional<std::int64_t> whole = {};  // of which kib is a share
};

constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kDerived = "derived";
constexpr std::string_view kEstimated = "estimated";

// `whole`: what the shares are of.
Columns<Line> line_columns(const char* line, const char* whole) {
  return {
      {for_machines("name"), &Line::name},
      {for_people(line), [](const Line& row) { return (row.of.empty() ? "" : "  of which ") + row.title; }},
      {{"kib", "SIZE", Kind::size}, &Line::kib},
      {{"percent", whole, Kind::percent}, [](const Line& row) { return share_percent(row.kib, row.whole); }},
      {{"how", "HOW", Kind::text}, [](const Line& row) { return Value(row.how); }},
      {for_machines("of"), [](const Line& row) { return row.of.empty() ? Value() : Value(row.of); }},
  };
}

Columns<Line> machine_line_columns() {
  return line_columns("LINE", "OF ALL");
}

std::vector<Line> machine_lines(const MachineMemory& memory) {
  std::vector<Line> lines;
  for (const MemoryLine& line : memory_breakdown(memory)) {
    lines.push_back({std::string(line.name), std::string(line.title), line.kib, line.derived ? kDerived : kMeasured,
                     std::string(line.of), memory.get(M::mem_total)});
  }
  return lines;
}

// A mean is derived.
std::string_view how(const ProcessSums& sum, Metric metric) {
  if (sum.estimated.contains(metric)) return kEstimated;
  return sum.mapped ? kMeasured : kDerived;
}

// Means are not split into what is mapped.
std::vector<Line> process_lines(const MachineMemory& memory, const ProcessSums& sum) {
  const MappedMemory mapped = sum.mapped.value_or(MappedMemory());
  const auto split = [&sum](std::int64_t kib) { return sum.mapped ? Kib(kib) : Kib(); };
  const Kib anon = split(mapped.pss_kib - mapped.file_kib - mapped.shmem_kib);
  const auto metric = [&](Metric of) {
    return Line{std::string(to_string(of)), std::string(metric_title(of)), sum.tally.kib(of), how(sum, of)};
  };
  const std::string_view how_pss = how(sum, Metric::pss);
  std::vector<Line> lines{
      metric(Metric::pss),
      {"pss_anon", "anonymous", anon, how_pss, "pss"},
      {"pss_file", "files", split(mapped.file_kib), how_pss, "pss"},
      {"pss_shmem", "tmpfs and shared memory", split(mapped.shmem_kib), how_pss, "pss"},
      metric(Metric::uss),
      metric(Metric::rss),
      metric(Metric::swap_pss),
      {"anon_elsewhere", "anonymous, in none of them", difference(memory.get(M::anon_pages), anon), kDerived}};
  for (Line& line : lines) line.whole = memory.get(M::mem_total);
  return lines;
}

std::vector<Line> swap_lines(const MachineMemory& memory) {
  std::vector<Line> lines{
      {"swap_total", "swap", memory.get(M::swap_total), kMeasured},
      {"swap_used", "used", swap_used_kib(memory), kDerived, "swap_total"},
      {"swap_cached", "in memory too (swap cache)", memory.get(M::swap_cached), kMeasured, "swap_total"},
      {"zswapped", "in memory, compressed (zswap)", memory.get(M::zswapped), kMeasured, "swap_total"}};
  for (Line& line : lines) line.whole = memory.get(M::swap_total);
  return lines;
}

void describe_processes(const ProcessSums& sum, Report& report, Section& section) {
  const Tally& tally = sum.tally;
  const bool known = tally.inexact().has_value();
  report.totals = {{"processes", "", Kind::count, tally.processes()},
                   {"inexact", "", Kind::count, tally.inexact()},
                   {"inaccessible", "", Kind::count, known ? Value(sum.inaccessible) : Value()},
                   {"exact_percent", "", Kind::percent, tally.exact_percent()}};
  const auto exact = tally.exact_percent();
  const std::string share = exact ? fmt::format(": {} of the PSS is exact", print_exact(*exact)) : std::string();
  const std::string none =
      sum.inaccessible > 0 ? fmt::format("; of {} nothing is known", sum.inaccessible) : std::string();
  section.notes.push_back(fmt::format("{}{}{}.", print_count(tally.processes(), "process", "processes"), share, none));
}

// What a reader must know to trust the sum.
void explain(const MachineMemory& memory, const std::vector<Line>& lines, Units units, Report& report) {
  if (lines.empty()) return;
  const std::int64_t rest = lines.back().kib.value_or(0);
  report.totals.push_back({"machine_total_kib", "", Kind::size, memory.get(M::mem_total)});
  report.notes.push_back(fmt::format("All lines that are not part of another add up to {} (MemTotal).",
                                     print_size(memory.or_zero(M::mem_total), units)));
  if (rest < 0) {
    report.warnings.push_back(
        fmt::format("the kernel's counts are {} more than there is: lines overlap, or were not read at once",
                    print_size(-rest, units)));
  }
  const auto other = std::ranges::find(lines, "other_shmem", &Line::name);
  if (other != lines.end() && other->kib.value_or(0) < 0) {
    report.notes.push_back(fmt::format(
        "tmpfs and SysV segments hold {} more than is in memory: as much of them is swapped out, or is seen twice.",
        print_size(-*other->kib, units)));
  }
}

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

void warn(const TickState& tick, const Outside& outside, std::int64_t inaccessible, Report& report) {
  const auto add = [&report](std::string warning) { report.warnings.push_back(std::move(warning)); };
  if (inaccessible > 0)
    add(fmt::format("{} inaccessible: nothing of them is in the sums",
                    print_count(inaccessible, "process is", "processes are")));
  for (const TmpfsSample& mount : outside.mounts) {
    if (auto warning = walk_warning(mount)) add(*std::move(warning));
  }
  const std::int64_t malformed = tick.tick.counts.malformed;
  if (malformed > 0)
    add(fmt::format("{} could not be understood, which the recorder's log tells of",
                    print_count(malformed, "text of the kernel", "texts of the kernel")));
}

// A section of what was recorded of tmpfs and segments, if anything was; and the warnings.
Status add_outside(const Context& context, const MachineMemory& machine, const TickState& tick,
                   std::int64_t inaccessible, Report& report) {
  const Outside outside = TRY(load_outside(context.reader, tick.tick.id));
  if (!outside.mounts.empty() || !outside.segments.empty()) {
    const auto total = machine.get(MachineField::mem_total);
    report.sections.push_back({"outside", "What lies outside of processes, whoever maps it",
                               make_table(line_columns("OUTSIDE", "OF ALL"), outside_lines(outside, total))});
  }
  warn(tick, outside, inaccessible, report);
  warn_of_ledgers(TRY(load_ledgers(context.reader, tick.tick.id)), report);
  return Done{};
}

Result<Report> run_memory(const Context& context) {
  const std::optional<State> loaded = TRY(load_state(context));
  if (!loaded) return nothing_recorded(context, machine_line_columns());
  const State& state = *loaded;
  const MachineMemory& memory = state.machine.memory;
  Report report = TRY(begin_report(context, state, "where all the memory is"));
  const std::vector<Line> lines = machine_lines(memory);
  report.rows = make_table(machine_line_columns(), lines);
  const ProcessSums sum = sum_of_processes(state);
  Section processes{"processes", "What processes hold, by their own counts",
                    make_table(line_columns("PROCESSES", "OF ALL"), process_lines(memory, sum))};
  describe_processes(sum, report, processes);
  Section swap{"swap", "Swap", make_table(line_columns("SWAP", "OF SWAP"), swap_lines(memory))};
  const Columns<OtherMeminfo> other{{{"key", "", Kind::text}, &OtherMeminfo::key},
                                    {{"value", "", Kind::count}, &OtherMeminfo::value}};
  report.sections = {
      std::move(processes), std::move(swap), {"other_meminfo", "", make_table(other, state.machine.other)}};
  explain(memory, lines, context.options.units, report);
  TRY(match(
      state, [&](const TickState& tick) { return add_outside(context, memory, tick, sum.inaccessible, report); },
      [](const BucketState&) { return Status(Done{}); }));
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

}  // namespace

Command memory_command() {
  return {.name = "memory",
          .summary = "where all the memory of the machine is, and what nothing accounts for",
          .options = {Option::at, Option::tier},
          .examples = {{"memoir memory", "where all the memory is now"},
                       {"memoir memory --at 03:14", "where it was at 03:14"}},
          .run = run_memory};
}

}  // namespace memoir::query
