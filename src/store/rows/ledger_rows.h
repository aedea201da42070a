#pragma once

// The rows of ledgers of mappings, and the names that they point to.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/mapping.h"
#include "store/rows/names.h"
#include "store/sqlite/statement.h"

namespace memoir {

// What is stored of a mapping: its columns behind the key. RSS and PSS are left out where they are what the others
// make.
inline constexpr std::size_t kMappingColumns = 11;
using MappingColumns = std::array<std::optional<std::int64_t>, kMappingColumns>;

// Exact for any values but -1, and but for what is not stored.
MappingColumns packed(const MappingUse& use);
MappingUse unpacked(const MappingColumns& columns);
MappingUse read_mapping(const Statement& row, int column);

struct StoredMapping {
  std::int64_t mapping_id = 0;
  MappingColumns columns;

  bool operator==(const StoredMapping&) const = default;
};

// A ledger as it was stored last. Its mappings are sorted by id; states of the writer share them.
struct StoredLedger {
  ProcessLedger head;  // without its mappings
  std::shared_ptr<const std::vector<StoredMapping>> mappings;
};

class LedgerRows {
 public:
  explicit LedgerRows(SQLite::Database& database);

  // With a row for each name that is new.
  std::vector<StoredMapping> mappings_of(const MappingLedger& ledger);

  void insert(std::int64_t tick_id, std::int64_t process_id, const ProcessLedger& head);
  void insert(std::int64_t tick_id, std::int64_t process_id, const StoredMapping& mapping);
  void insert_gone(std::int64_t tick_id, std::int64_t process_id, std::int64_t mapping_id);

  // The names that have a row of this process from a tick on.
  std::vector<std::int64_t> mapping_ids_since(std::int64_t tick_id, std::int64_t process_id);

 private:
  std::int64_t mapping_id(MappingKind kind, std::optional<std::string_view> label);

  Names names_;
  Statement ledger_;
  Statement mapping_;
  Statement gone_;
  Statement since_;
};

}  // namespace memoir
