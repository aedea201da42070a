#include "query/state/mapping_summaries.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "query/report/format.h"
#include "store/mappings.h"

namespace memoir::query {
namespace {

using F = ProcessField;

MappingUse sum_of(const MappingSummary& summary) {
  MappingUse sum;
  for (const MappingRow& row : summary.rows) sum.add(row.use);
  for (const MappingUse& others : summary.others) sum.add(others);
  return sum;
}

}  // namespace

Result<std::vector<MappedProcess>> load_summaries(const Context& context, const State& state, const StoredTick& tick) {
  std::vector<MappingsAt> stored = TRY(load_summaries(context.reader, tick.id));
  std::unordered_map<std::int64_t, MappingsAt*> by_process;
  for (MappingsAt& at : stored) by_process[at.process_id] = &at;
  std::vector<MappedProcess> summaries;
  summaries.reserve(stored.size());
  for (const ProcessUse& process : state.processes) {
    const auto found = by_process.find(process.process->id);
    if (found == by_process.end()) continue;
    const MappingUse sum = sum_of(found->second->summary.summary);
    summaries.push_back({&process, std::move(found->second->summary), sum});
  }
  std::ranges::stable_sort(summaries, std::greater(),
                           [](const MappedProcess& summary) { return summary.sum.pss_kib(); });
  return summaries;
}

std::optional<std::int64_t> summary_age_ms(const ProcessMappings& summary, const State& state) {
  if (!summary.read_ms) return std::nullopt;
  return std::max<std::int64_t>(state.at_ms - *summary.read_ms, 0);
}

Result<std::optional<std::string>> why_no_summaries(const Context& context) {
  if (TRY(has_summaries(context.reader))) return std::optional<std::string>();
  return std::optional(fmt::format("no mappings were recorded: {}", kHowToRead));
}

std::optional<std::int64_t> uss_kib(const MappingUse& use) {
  return memoir::uss_kib(use.memory);
}

std::string shown_label(MappingKind kind, const std::optional<std::string>& label) {
  if (!label) return fmt::format("({}: all others)", to_string(kind));
  return label->empty() ? fmt::format("({})", to_string(kind)) : *label;
}

bool is_deleted(const std::optional<std::string>& label) {
  return label && label->ends_with(kDeletedMark);
}

Columns<MappingLine> mapping_columns() {
  Columns<MappingLine> columns;
  add_use(columns, [](const MappingLine& line) -> const MappingUse& { return line.use; });
  columns.add({"kind", "KIND", Kind::text, 1}, [](const MappingLine& line) { return Value(to_string(line.kind)); });
  columns.add(data_column("label"), &MappingLine::label);
  columns.add(data_column("others"), [](const MappingLine& line) { return !line.label.has_value(); });
  columns.add(data_column("deleted"), [](const MappingLine& line) { return is_deleted(line.label); });
  columns.add(display_column("NAME"), [](const MappingLine& line) { return shown_label(line.kind, line.label); });
  return columns;
}

std::vector<MappingLine> mapping_lines(const MappingSummary& summary) {
  std::vector<MappingLine> lines;
  lines.reserve(summary.rows.size() + kMappingKinds);
  for (const MappingRow& row : summary.rows) lines.push_back({row.name.kind, row.name.label, row.use});
  for (std::size_t kind = 0; kind < kMappingKinds; ++kind) {
    const MappingUse& others = summary.others.at(kind);
    if (others.regions > 0) lines.push_back({static_cast<MappingKind>(kind), std::nullopt, others});
  }
  std::ranges::stable_sort(lines, std::greater(), [](const MappingLine& line) { return line.use.pss_kib(); });
  return lines;
}

void report_use(const MappingUse& sum, Units units, Report& report) {
  const auto kib = [&](const char* name, std::optional<std::int64_t> value) {
    report.totals.push_back({name, "", Kind::size, value});
  };
  report.totals.push_back({"regions", "", Kind::count, sum.regions});
  kib("size_kib", sum.size_kib);
  kib("rss_kib", sum.memory.get(F::rss));
  kib("pss_kib", sum.memory.get(F::pss));
  kib("uss_kib", uss_kib(sum));
  kib("swap_kib", sum.memory.get(F::swap));
  report.notes.push_back(
      fmt::format("All together {} of PSS, {} of RSS, {} of USS, {} of swap in {}.", format_size(sum.pss_kib(), units),
                  format_size(sum.memory.or_zero(F::rss), units), format_size(uss_kib(sum).value_or(0), units),
                  format_size(sum.memory.or_zero(F::swap), units), format_count(sum.regions, "region", "regions")));
}

}  // namespace memoir::query
