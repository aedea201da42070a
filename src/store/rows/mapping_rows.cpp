#include "store/rows/mapping_rows.h"

#include <algorithm>

#include "store/rows/columns.h"

namespace memoir {
namespace {

using Field = ProcessField;

// Indexes of the columns that are derived or are not fields of smaps.
enum Place : std::size_t {
  kRegions,
  kSize,
  kRss,
  kPss,
  kFields,
  kSharedSwap = kMappingColumns - 2,
  kObject = kMappingColumns - 1
};

constexpr std::array kPlainFields{Field::shared_clean,  Field::shared_dirty, Field::private_clean,
                                  Field::private_dirty, Field::swap,         Field::swap_pss};
static_assert(kFields + kPlainFields.size() == kSharedSwap);

}  // namespace

MappingColumns packed(const MappingUse& use) {
  MappingColumns columns;
  columns[kRegions] = use.regions;
  columns[kSize] = use.size_kib;
  columns[kRss] = packed_column(use.memory.get(Field::rss), value_of(kMappingRss, use.memory));
  columns[kPss] = packed_column(use.memory.get(Field::pss), value_of(kMappingPss, use.memory));
  for (std::size_t i = 0; i < kPlainFields.size(); ++i) columns[kFields + i] = use.memory.get(kPlainFields[i]);
  columns[kSharedSwap] = use.shared_swap_kib;
  columns[kObject] = use.object_kib;
  return columns;
}

MappingUse unpacked(const MappingColumns& columns) {
  MappingUse use;
  use.regions = columns[kRegions].value_or(0);
  use.size_kib = columns[kSize].value_or(0);
  for (std::size_t i = 0; i < kPlainFields.size(); ++i) use.memory.set(kPlainFields[i], columns[kFields + i]);
  use.memory.set(Field::rss, unpacked_column(columns[kRss], value_of(kMappingRss, use.memory)));
  use.memory.set(Field::pss, unpacked_column(columns[kPss], value_of(kMappingPss, use.memory)));
  use.shared_swap_kib = columns[kSharedSwap].value_or(0);
  use.object_kib = columns[kObject];
  return use;
}

MappingUse read_mapping(const Statement& row, int column) {
  MappingColumns columns;
  for (auto& value : columns) value = row.maybe(column++);
  return unpacked(columns);
}

MappingRows::MappingRows(SQLite::Database& database)
    : names_(database, "SELECT id FROM mapping WHERE kind = ? AND label IS ?",
             "INSERT INTO mapping (kind, label) VALUES (?, ?)"),
      summary_(database,
               "INSERT INTO mapping_summary (tick_id, process_id, state, read_ms, regions, cpu_us, wall_us) "
               "VALUES (?, ?, ?, ?, ?, ?, ?)"),
      mapping_(database,
               "INSERT INTO mapping_sample (tick_id, process_id, mapping_id, regions, size_kib, rss_kib, pss_kib, "
               "shared_clean_kib, shared_dirty_kib, private_clean_kib, private_dirty_kib, swap_kib, swap_pss_kib, "
               "shared_swap_kib, object_kib) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      gone_(database, "INSERT INTO mapping_sample (tick_id, process_id, mapping_id, regions) VALUES (?, ?, ?, 0)"),
      since_(database,
             "SELECT DISTINCT mapping_id FROM mapping_sample WHERE tick_id >= ? AND process_id = ? "
             "ORDER BY mapping_id") {}

std::int64_t MappingRows::mapping_id(MappingKind kind, std::optional<std::string_view> label) {
  return names_.id(to_string(kind), label);
}

std::vector<StoredMapping> MappingRows::mappings_of(const MappingSummary& summary) {
  std::vector<StoredMapping> mappings;
  mappings.reserve(summary.rows.size() + kMappingKinds);
  for (const auto& [name, use] : summary.rows) {
    mappings.push_back({mapping_id(name.kind, std::string_view(name.label)), packed(use)});
  }
  for (std::size_t kind = 0; kind < kMappingKinds; ++kind) {
    const MappingUse& others = summary.others.at(kind);
    if (others.regions == 0) continue;
    mappings.push_back({mapping_id(static_cast<MappingKind>(kind), std::nullopt), packed(others)});
  }
  std::ranges::sort(mappings, {}, &StoredMapping::mapping_id);
  return mappings;
}

void MappingRows::insert(std::int64_t tick_id, std::int64_t process_id, const ProcessMappings& head) {
  summary_.run(tick_id, process_id, static_cast<int>(head.state), head.read_ms, head.regions, head.cpu_us,
               head.wall_us);
}

void MappingRows::insert(std::int64_t tick_id, std::int64_t process_id, const StoredMapping& mapping) {
  mapping_.bind(tick_id, process_id, mapping.mapping_id);
  for (const auto& value : mapping.columns) mapping_.add(value);
  mapping_.finish();
}

void MappingRows::insert_gone(std::int64_t tick_id, std::int64_t process_id, std::int64_t mapping_id) {
  gone_.run(tick_id, process_id, mapping_id);
}

std::vector<std::int64_t> MappingRows::mapping_ids_since(std::int64_t tick_id, std::int64_t process_id) {
  return since_.every([](const Statement& row) { return row.integer(0); }, tick_id, process_id);
}

}  // namespace memoir
