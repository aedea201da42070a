#include "store/mappings.h"

#include <algorithm>
#include <unordered_map>

#include "store/replay/tick_cursor.h"
#include "store/rows/columns.h"
#include "store/rows/ledger_rows.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

LedgerAt read_head(const Statement& row) {
  ProcessLedger ledger;
  ledger.process = read_key(row, 1);
  ledger.state = static_cast<LedgerState>(row.integer(4));
  ledger.read_ms = row.maybe(5);
  ledger.regions = row.integer(6);
  ledger.cpu_us = row.integer(7);
  ledger.wall_us = row.integer(8);
  return {row.integer(0), std::move(ledger)};
}

// A kind that we do not know counts among the others; a label of NULL is what a ledger sums without one.
void add_mapping(const Statement& row, MappingLedger& ledger) {
  const MappingKind kind = parse_mapping_kind(row.text(1)).value_or(MappingKind::other);
  const MappingUse use = read_mapping(row, 4);
  if (row.integer(3) == 0) {
    ledger.others[static_cast<std::size_t>(kind)].add(use);
  } else {
    ledger.rows.push_back({{kind, row.text(2)}, use});
  }
}

struct Place {
  std::int64_t tick_id = 0;  // of the first ledgers
  std::size_t index = 0;
};

// A process that was there at the first ledger of the mapping, but had none itself before this one, counts: it is not
// that it mapped it later.
void add_first(const Statement& row, std::int64_t at_tick, FirstMapping& first) {
  const std::int64_t tick_id = row.integer(0);
  const std::int64_t process_since = row.integer(2);
  const std::int64_t ledgers_since = row.integer(3);
  const bool late = process_since <= at_tick && ledgers_since == tick_id;
  if (tick_id != at_tick && !late) return;
  first.use.add(read_mapping(row, 7));
  ++first.mappers;
  if (ledgers_since < at_tick) first.maybe_older = false;
}

std::vector<LedgerAt> read_ledgers(SQLite::Database& database, std::int64_t tick_id,
                                   std::optional<std::int64_t> process_id) {
  const std::int64_t keyframe_id = keyframe_of(database, tick_id);
  std::vector<LedgerAt> ledgers = every(database, sql::snapshot_ledgers, read_head, keyframe_id, tick_id, process_id);

  Statement mappings(database, sql::snapshot_mappings);
  mappings.bind(keyframe_id, tick_id, process_id);
  auto of = ledgers.begin();
  while (mappings.step()) {
    while (of != ledgers.end() && of->process_id < mappings.integer(0)) ++of;
    if (of == ledgers.end()) break;
    // Rows of one that was never read are those of a ledger that was dropped before.
    if (of->process_id == mappings.integer(0) && of->ledger.read_ms) add_mapping(mappings, of->ledger.ledger);
  }
  for (LedgerAt& ledger : ledgers) std::ranges::sort(ledger.ledger.ledger.rows, ranks_before);
  return ledgers;
}

std::vector<FirstMapping> read_first_mappings(SQLite::Database& database, std::int64_t tick_id) {
  Statement rows(database, sql::first_mappings);
  rows.bind(tick_id);
  std::vector<FirstMapping> firsts;
  std::unordered_map<std::int64_t, Place> places;  // by the row of the name
  while (rows.step()) {
    const auto [place, is_new] = places.try_emplace(rows.integer(4), Place{rows.integer(0), firsts.size()});
    if (is_new) {
      const MappingKind kind = parse_mapping_kind(rows.text(5)).value_or(MappingKind::other);
      firsts.push_back({{kind, rows.text(6)}, rows.integer(1)});
    }
    add_first(rows, place->second.tick_id, firsts[place->second.index]);
  }
  return firsts;
}

}  // namespace

Result<std::vector<LedgerAt>> load_ledgers(Reader& reader, std::int64_t tick_id,
                                           std::optional<std::int64_t> process_id) {
  return reader.read([&](SQLite::Database& database) { return read_ledgers(database, tick_id, process_id); });
}

Result<bool> has_ledgers(Reader& reader) {
  return reader.read(
      [](SQLite::Database& database) { return one(database, "SELECT EXISTS (SELECT 1 FROM ledger)") == 1; });
}

Result<std::vector<FirstMapping>> load_first_mappings(Reader& reader, std::int64_t tick_id) {
  return reader.read([&](SQLite::Database& database) { return read_first_mappings(database, tick_id); });
}

}  // namespace memoir
