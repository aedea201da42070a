#pragma once

// The rows of mapping summaries, and the names that they refer to.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/mapping.h"
#include "store/rows/names.h"
#include "store/sqlite/statement.h"

namespace memoir {

// Number of stored columns of a mapping after its key. RSS and PSS are omitted if the other columns give their values.
inline constexpr std::size_t kMappingColumns = 12;
using MappingColumns = std::array<std::optional<std::int64_t>, kMappingColumns>;

// Convert a mapping to its columns and back. Lossless for any value except -1.
MappingColumns packed(const MappingUse& use);
MappingUse unpacked(const MappingColumns& columns);
MappingUse read_mapping(const Statement& row, int column);

struct StoredMapping {
  std::int64_t mapping_id = 0;
  MappingColumns columns;

  bool operator==(const StoredMapping&) const = default;
};

// A summary as last stored. Its mappings are sorted by id; successive states of the writer share them.
struct StoredMappings {
  ProcessMappings head;  // without its mappings
  std::shared_ptr<const std::vector<StoredMapping>> mappings;
};

class MappingRows {
 public:
  explicit MappingRows(SQLite::Database& database);

  // Returns the mappings of a summary, sorted by id. Inserts a row for each new name.
  std::vector<StoredMapping> mappings_of(const MappingSummary& summary);

  void insert(std::int64_t tick_id, std::int64_t process_id, const ProcessMappings& head);
  void insert(std::int64_t tick_id, std::int64_t process_id, const StoredMapping& mapping);
  void insert_gone(std::int64_t tick_id, std::int64_t process_id, std::int64_t mapping_id);

  // Returns the ids of the names that rows of this process from `tick_id` on refer to.
  std::vector<std::int64_t> mapping_ids_since(std::int64_t tick_id, std::int64_t process_id);

 private:
  std::int64_t mapping_id(MappingKind kind, std::optional<std::string_view> label);

  Names names_;
  Statement summary_;
  Statement mapping_;
  Statement gone_;
  Statement since_;
};

}  // namespace memoir
