#include "store/mappings.h"

#include <algorithm>
#include <unordered_map>

#include "store/replay/tick_cursor.h"
#include "store/rows/columns.h"
#include "store/rows/mapping_rows.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

MappingsAt read_head(const Statement& row) {
  ProcessMappings summary;
  summary.process = read_key(row, 1);
  summary.state = static_cast<MappingState>(row.integer(4));
  summary.read_ms = row.maybe(5);
  summary.regions = row.integer(6);
  summary.cpu_us = row.integer(7);
  summary.wall_us = row.integer(8);
  return {row.integer(0), std::move(summary)};
}

// An unknown kind counts as MappingKind::other. A NULL label marks the sum of a kind's mappings beyond the largest.
void add_mapping(const Statement& row, MappingSummary& summary) {
  const MappingKind kind = parse_mapping_kind(row.text(1)).value_or(MappingKind::other);
  const MappingUse use = read_mapping(row, 4);
  if (row.integer(3) == 0) {
    summary.others[static_cast<std::size_t>(kind)].add(use);
  } else {
    summary.rows.push_back({{kind, row.name(2)}, use});
  }
}

struct Place {
  std::int64_t tick_id = 0;  // tick of the first summaries with this name
  std::size_t index = 0;
};

// Adds a row of a mapping. A row after `at_tick` counts only if the process ran at `at_tick` and this is its first
// summary, because the process may have mapped the object before.
void add_first(const Statement& row, std::int64_t at_tick, FirstMapping& first) {
  const std::int64_t tick_id = row.integer(0);
  const std::int64_t process_since = row.integer(2);
  const std::int64_t summaries_since = row.integer(3);
  const bool late = process_since <= at_tick && summaries_since == tick_id;
  if (tick_id != at_tick && !late) return;
  first.use.add(read_mapping(row, 7));
  ++first.mappers;
  if (summaries_since < at_tick) first.maybe_older = false;
}

std::vector<MappingsAt> read_summaries(SQLite::Database& database, std::int64_t tick_id,
                                       std::optional<std::int64_t> process_id) {
  const std::int64_t keyframe_id = keyframe_of(database, tick_id);
  std::vector<MappingsAt> summaries =
      every(database, sql::snapshot_summaries, read_head, keyframe_id, tick_id, process_id);

  Statement mappings(database, sql::snapshot_mappings);
  mappings.bind(keyframe_id, tick_id, process_id);
  auto of = summaries.begin();
  while (mappings.step()) {
    while (of != summaries.end() && of->process_id < mappings.integer(0)) ++of;
    if (of == summaries.end()) break;
    // Rows of a process without a reading belong to an earlier, dropped summary.
    if (of->process_id == mappings.integer(0) && of->summary.read_ms) add_mapping(mappings, of->summary.summary);
  }
  for (MappingsAt& summary : summaries) std::ranges::sort(summary.summary.summary.rows, ranks_before);
  return summaries;
}

std::vector<FirstMapping> read_first_mappings(SQLite::Database& database, std::int64_t tick_id) {
  Statement rows(database, sql::first_mappings);
  rows.bind(tick_id);
  std::vector<FirstMapping> firsts;
  std::unordered_map<std::int64_t, Place> places;  // by the id of the name's row
  while (rows.step()) {
    const auto [place, is_new] = places.try_emplace(rows.integer(4), Place{rows.integer(0), firsts.size()});
    if (is_new) {
      const MappingKind kind = parse_mapping_kind(rows.text(5)).value_or(MappingKind::other);
      firsts.push_back({{kind, rows.name(6)}, rows.integer(1)});
    }
    add_first(rows, place->second.tick_id, firsts[place->second.index]);
  }
  return firsts;
}

}  // namespace

Result<std::vector<MappingsAt>> load_summaries(Reader& reader, std::int64_t tick_id,
                                               std::optional<std::int64_t> process_id) {
  return reader.read([&](SQLite::Database& database) { return read_summaries(database, tick_id, process_id); });
}

Result<bool> has_summaries(Reader& reader) {
  return reader.read(
      [](SQLite::Database& database) { return one(database, "SELECT EXISTS (SELECT 1 FROM mapping_summary)") == 1; });
}

Result<std::vector<FirstMapping>> load_first_mappings(Reader& reader, std::int64_t tick_id) {
  return reader.read([&](SQLite::Database& database) { return read_first_mappings(database, tick_id); });
}

}  // namespace memoir
