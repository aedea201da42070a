#pragma once

// Mapping summaries (model/mapping.h) for commands.

#include <optional>
#include <string>
#include <vector>

#include "model/mapping.h"
#include "query/report/report.h"
#include "query/state/moment.h"
#include "query/state/state.h"

namespace memoir::query {

struct MappedProcess {
  const ProcessUse* process = nullptr;
  ProcessMappings of;
  MappingUse sum;
};

// Returns the summaries of a tick's processes, the largest PSS first.
Result<std::vector<MappedProcess>> load_summaries(const Context& context, const State& state, const StoredTick& tick);

// Returns how long before the tick the mappings were read; nullopt if they never were.
std::optional<std::int64_t> summary_age_ms(const ProcessMappings& summary, const State& state);

// Message if the ticks of a time {} have expired.
inline constexpr std::string_view kSummariesExpired = "the ticks of {} have expired, and their mappings with them";
// Returns why the file has no summaries; nullopt if it has some.
Result<std::optional<std::string>> why_no_summaries(const Context& context);

// How to make memoird read mappings.
inline constexpr const char* kHowToRead =
    "kill -USR1 makes memoird read those of the largest processes now ([mappings] in memoir.toml)";

std::optional<std::int64_t> uss_kib(const MappingUse& use);

// Returns a human-readable label: also for a mapping without a name (empty) and for the sum of the others (nullopt).
std::string shown_label(MappingKind kind, const std::optional<std::string>& label);
bool is_deleted(const std::optional<std::string>& label);

// Adds the columns of mapped memory, the same for one process and for all.
template <typename Row, typename GetUse>
void add_use(Columns<Row>& columns, GetUse use) {
  using F = ProcessField;
  const auto field = [&](Column column, F of) {
    columns.add(std::move(column), [use, of](const Row& row) { return use(row).memory.get(of); });
  };
  field({"pss_kib", "PSS", Kind::size}, F::pss);
  field({"rss_kib", "RSS", Kind::size, 2}, F::rss);
  columns.add({"uss_kib", "USS", Kind::size, 4}, [use](const Row& row) { return uss_kib(use(row)); });
  field({"swap_kib", "SWAP", Kind::size, 3}, F::swap);
  columns.add({"size_kib", "SIZE", Kind::size, 5}, [use](const Row& row) { return use(row).size_kib; });
  columns.add({"regions", "REGIONS", Kind::count, 6}, [use](const Row& row) { return use(row).regions; });
  field(data_column("shared_clean_kib", Kind::size), F::shared_clean);
  field(data_column("shared_dirty_kib", Kind::size), F::shared_dirty);
  field(data_column("private_clean_kib", Kind::size), F::private_clean);
  field(data_column("private_dirty_kib", Kind::size), F::private_dirty);
  field(data_column("swap_pss_kib", Kind::size), F::swap_pss);
  columns.add(data_column("shared_swap_kib", Kind::size), [use](const Row& row) { return use(row).shared_swap_kib; });
  columns.add(data_column("object_kib", Kind::size), [use](const Row& row) { return use(row).object_kib; });
}

// A line of a mapping summary: the mappings with one name. A line without a label is the sum of the other mappings of
// its kind.
struct MappingLine {
  MappingKind kind = MappingKind::other;
  std::optional<std::string> label;
  MappingUse use;

  std::optional<std::int64_t> pss_kib() const { return use.memory.get(ProcessField::pss); }
};

Columns<MappingLine> mapping_columns();
// Returns the lines, the largest PSS first.
std::vector<MappingLine> mapping_lines(const MappingSummary& summary);

// Reports the sum of all rows, in the totals and as a note.
void report_use(const MappingUse& sum, Units units, Report& report);

}  // namespace memoir::query
