#include "query/state/ledgers.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "query/report/format.h"
#include "store/mappings.h"

namespace memoir::query {
namespace {

using F = ProcessField;

MappingUse sum_of(const MappingLedger& ledger) {
  MappingUse sum;
  for (const MappingRow& row : ledger.rows) sum.add(row.use);
  for (const MappingUse& others : ledger.others) sum.add(others);
  return sum;
}

}  // namespace

Result<std::vector<HeldLedger>> load_ledgers(const Context& context, const State& state, const TickState& tick) {
  std::vector<LedgerAt> stored = TRY(load_ledgers(context.reader, tick.tick.id));
  std::unordered_map<std::int64_t, LedgerAt*> by_process;
  for (LedgerAt& at : stored) by_process[at.process_id] = &at;
  std::vector<HeldLedger> ledgers;
  ledgers.reserve(stored.size());
  for (const HeldProcess& process : state.processes) {
    const auto found = by_process.find(process.process->id);
    if (found == by_process.end()) continue;
    const MappingUse sum = sum_of(found->second->ledger.ledger);
    ledgers.push_back({&process, std::move(found->second->ledger), sum});
  }
  std::ranges::stable_sort(ledgers, std::greater(), [](const HeldLedger& ledger) { return ledger.sum.pss_kib(); });
  return ledgers;
}

std::optional<std::int64_t> ledger_age_ms(const ProcessLedger& ledger, const State& state) {
  if (!ledger.read_ms) return std::nullopt;
  return std::max<std::int64_t>(state.at_ms - *ledger.read_ms, 0);
}

Result<std::optional<std::string>> why_no_ledgers(const Context& context) {
  if (TRY(has_ledgers(context.reader))) return std::optional<std::string>();
  return std::optional(fmt::format("nothing of what processes map was recorded: {}", kHowToRead));
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
      fmt::format("All together {} of PSS, {} of RSS, {} of USS, {} of swap in {}.", print_size(sum.pss_kib(), units),
                  print_size(sum.memory.or_zero(F::rss), units), print_size(uss_kib(sum).value_or(0), units),
                  print_size(sum.memory.or_zero(F::swap), units), print_count(sum.regions, "region", "regions")));
}

}  // namespace memoir::query
