// memoir memory: breakdown of the machine's memory by the kernel's counts, the memory of processes by their own counts,
// and swap.

#include <algorithm>
#include <fmt/format.h>

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
#include "store/shmem_state.h"

namespace memoir::query {

namespace {

using M = MachineField;
using Kib = std::optional<std::int64_t>;

constexpr std::size_t kOtherLines = 8;  // lines of an answer besides its rows

// One line of the answer: a sum, its source, and the total of which it is a share.
struct Line {
  std::string name;
  std::string title;
  std::optional<std::int64_t> kib;
  std::string_view how;
  std::string of = {};
  std::optional<std::int64_t> whole = {};  // total of which `kib` is a part
};

constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kDerived = "derived";
constexpr std::string_view kEstimated = "estimated";

// Returns nullopt if the part exceeds its whole: the counters contradict each other.
std::optional<double> share_of(const Line& line) {
  const bool is_share = line.kib && line.whole && *line.kib >= 0 && *line.kib <= *line.whole;
  return is_share ? share_percent(line.kib, line.whole) : std::nullopt;
}

// `line` and `whole` are the headings of the first column and of the share column.
Columns<Line> line_columns(const char* line, const char* whole) {
  return {
      {data_column("name"), &Line::name},
      {display_column(line), [](const Line& row) { return (row.of.empty() ? "" : "  of which ") + row.title; }},
      {{"kib", "SIZE", Kind::size}, &Line::kib},
      {{"percent", whole, Kind::percent}, &share_of},
      {{"how", "HOW", Kind::text}, [](const Line& row) { return Value(row.how); }},
      {data_column("of"), [](const Line& row) { return row.of.empty() ? Value() : Value(row.of); }},
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
  // If the lines add up to more than the total there is no remainder; explain() reports the excess.
  if (!lines.empty() && *lines.back().kib < 0) lines.back().kib.reset();
  return lines;
}

// Adds up only the lines that are not part of another.
std::int64_t sum_of(const std::vector<Line>& lines) {
  std::int64_t sum = 0;
  for (const Line& line : lines) sum += line.of.empty() ? line.kib.value_or(0) : 0;
  return sum;
}

// Returns the source of a sum; means are derived.
std::string_view how(const ProcessSums& sum, Metric metric) {
  if (sum.estimated.contains(metric)) return kEstimated;
  return sum.mapped ? kMeasured : kDerived;
}

// Means are not split into mapped files and shared memory.
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
      {"anon_elsewhere", "anonymous, in no process", difference(memory.get(M::anon_pages), anon), kDerived}};
  // PSS and meminfo are not read at the same moment, so the difference may be negative.
  if (lines.back().kib < 0) lines.back().kib.reset();
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
  const std::string share =
      exact ? fmt::format(": {} of the PSS is exact", format_exact_percent(*exact)) : std::string();
  const std::string none =
      sum.inaccessible > 0 ? fmt::format("; {} could not be read", sum.inaccessible) : std::string();
  section.notes.push_back(fmt::format("{}{}{}.", format_count(tally.processes(), "process", "processes"), share, none));
}

// Adds notes that a reader needs in order to trust the sum.
void explain(const MachineMemory& memory, const std::vector<Line>& lines, Units units, Report& report) {
  if (lines.empty()) return;
  const std::int64_t total = memory.or_zero(M::mem_total);
  const std::int64_t excess = lines.back().kib ? 0 : sum_of(lines) - total;
  report.totals.push_back({"machine_total_kib", "", Kind::size, memory.get(M::mem_total)});
  report.totals.push_back({"excess_kib", "", Kind::size, excess});
  report.notes.push_back(fmt::format("All lines that are not part of another add up to {} (MemTotal{}).",
                                     format_size(total + excess, units),
                                     excess == 0 ? "" : fmt::format(" and {} more", format_size(excess, units))));
  if (excess > 0) {
    report.warnings.push_back(
        fmt::format("the kernel's counts contradict each other: they are {} more than MemTotal, because lines overlap "
                    "or were not read at once; the unaccounted remainder is unknown",
                    format_size(excess, units)));
  }
  const std::int64_t beyond = memory.or_zero(M::tmpfs) + memory.or_zero(M::sysv) - memory.or_zero(M::shmem);
  if (memory.has(M::shmem) && beyond > 0) {
    report.notes.push_back(
        fmt::format("tmpfs and SysV segments use {} more than is in memory: that much is swapped out or counted twice.",
                    format_size(beyond, units)));
  }
}

std::vector<Line> shmem_lines(const ShmemState& shmem, std::optional<std::int64_t> total_kib) {
  std::int64_t used = 0;
  std::int64_t allocated = 0;
  for (const TmpfsSample& mount : shmem.mounts) {
    used += mount.used_kib.value_or(0);
    allocated += mount.content.allocated_kib;
  }
  std::int64_t rss = 0;
  std::int64_t swap = 0;
  for (const SysvSegment& segment : shmem.segments) {
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

void warn_of_summaries(const std::vector<MappingsAt>& summaries, Report& report) {
  const auto add = [&](MappingState state, const char* problem) {
    const auto count =
        std::ranges::count_if(summaries, [state](const MappingsAt& at) { return at.summary.state == state; });
    if (count > 0)
      report.warnings.push_back(
          fmt::format("the mappings of {} {}", format_count(count, "process", "processes"), problem));
  };
  add(MappingState::inaccessible, "cannot be read without permission");
  add(MappingState::deferred, "were not read in time and may be outdated");
}

void warn(const StoredTick& tick, const ShmemState& shmem, std::int64_t inaccessible, Report& report) {
  const auto add = [&report](std::string warning) { report.warnings.push_back(std::move(warning)); };
  if (inaccessible > 0)
    add(fmt::format("{} inaccessible, and not in the sums", format_count(inaccessible, "process is", "processes are")));
  for (const TmpfsSample& mount : shmem.mounts) {
    if (auto warning = walk_warning(mount)) add(*std::move(warning));
  }
  const std::int64_t malformed = tick.counts.malformed;
  if (malformed > 0)
    add(fmt::format("{} of kernel files could not be parsed (memoir status shows which)",
                    format_count(malformed, "line", "lines")));
}

// Adds a section for recorded tmpfs mounts and segments, if there are any, and the warnings.
Status add_outside(const Context& context, const MachineMemory& machine, const StoredTick& tick,
                   std::int64_t inaccessible, Report& report) {
  const ShmemState shmem = TRY(load_shmem_state(context.reader, tick.id));
  if (!shmem.mounts.empty() || !shmem.segments.empty()) {
    const auto total = machine.get(MachineField::mem_total);
    report.sections.push_back({"outside", "Memory outside processes, mapped or not",
                               make_table(line_columns("OUTSIDE", "OF ALL"), shmem_lines(shmem, total))});
  }
  warn(tick, shmem, inaccessible, report);
  warn_of_summaries(TRY(load_summaries(context.reader, tick.id)), report);
  return Done{};
}

// A small screen has no space for lines of 0.
std::vector<Line> fitting_lines(const Context& context, std::vector<Line> lines) {
  const bool fit = context.screen && context.screen->fit && context.screen->lines < lines.size() + kOtherLines;
  if (fit) std::erase_if(lines, [](const Line& line) { return line.kib == 0; });
  return lines;
}

Result<Report> run_memory(const Context& context) {
  const std::optional<State> loaded = TRY(load_state(context));
  if (!loaded) return nothing_recorded(context, machine_line_columns());
  const State& state = *loaded;
  const MachineMemory& memory = state.machine.memory;
  Report report = TRY(begin_report(context, state, "where all the memory is"));
  const std::vector<Line> lines = machine_lines(memory);
  report.rows = make_table(machine_line_columns(), fitting_lines(context, lines));
  const ProcessSums sum = sum_of_processes(state);
  Section processes{"processes", "Memory of processes, by their own counts",
                    make_table(line_columns("PROCESSES", "OF ALL"), process_lines(memory, sum))};
  describe_processes(sum, report, processes);
  Section swap{"swap", "Swap", make_table(line_columns("SWAP", "OF SWAP"), swap_lines(memory))};
  const Columns<OtherMeminfo> other{{{"key", "", Kind::text}, &OtherMeminfo::key},
                                    {{"value", "", Kind::count}, &OtherMeminfo::value}};
  report.sections = {
      std::move(processes), std::move(swap), {"other_meminfo", "", make_table(other, state.machine.other)}};
  explain(memory, lines, context.options.units, report);
  if (const StoredTick* const tick = tick_of(state)) TRY(add_outside(context, memory, *tick, sum.inaccessible, report));
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

}  // namespace

Command memory_command() {
  return {.name = "memory",
          .summary = "breakdown of the machine's memory, including unaccounted memory",
          .options = {Option::at, Option::tier},
          .examples = {{"memoir memory", "where all the memory is now"},
                       {"memoir memory --at 03:14", "where it was at 03:14"}},
          .run = run_memory,
          .subject_words = {"shm", "tmpfs", "mappings", "shared"}};
}

}  // namespace memoir::query
