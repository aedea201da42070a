#pragma once

// The ledgers of what processes map, as commands answer from them (model/mapping.h).

#include <optional>
#include <string>
#include <vector>

#include "model/mapping.h"
#include "query/report/report.h"
#include "query/state/moment.h"
#include "query/state/state.h"

namespace memoir::query {

// That of a process of a state.
struct HeldLedger {
  const HeldProcess* process = nullptr;
  ProcessLedger of;
  MappingUse sum;
};

// Those of the processes of a tick, the largest PSS first.
Result<std::vector<HeldLedger>> load_ledgers(const Context& context, const State& state, const TickState& tick);

// How long before the tick it was read; absent: never.
std::optional<std::int64_t> ledger_age_ms(const ProcessLedger& ledger, const State& state);

// Said where the ticks of a time {} are gone.
inline constexpr std::string_view kLedgersGone = "the ticks of {} are gone, and with them what processes mapped";
// Why the file has none at all: absent where it has some.
Result<std::optional<std::string>> why_no_ledgers(const Context& context);

// How a ledger comes about.
inline constexpr const char* kHowToRead =
    "`kill -USR1` of memoird reads those of the largest processes now, [mappings] of memoir.toml says of how many";

std::optional<std::int64_t> uss_kib(const MappingUse& use);

// "", without a label, and what is beyond the largest have words for people.
std::string shown_label(MappingKind kind, const std::optional<std::string>& label);
bool is_deleted(const std::optional<std::string>& label);

// How much is mapped: the same columns for one process and for all.
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
  field(for_machines("shared_clean_kib", Kind::size), F::shared_clean);
  field(for_machines("shared_dirty_kib", Kind::size), F::shared_dirty);
  field(for_machines("private_clean_kib", Kind::size), F::private_clean);
  field(for_machines("private_dirty_kib", Kind::size), F::private_dirty);
  field(for_machines("swap_pss_kib", Kind::size), F::swap_pss);
  columns.add(for_machines("shared_swap_kib", Kind::size), [use](const Row& row) { return use(row).shared_swap_kib; });
}

// The sum of all rows: in the totals, and as a note.
void report_use(const MappingUse& sum, Units units, Report& report);

}  // namespace memoir::query
