#pragma once

// Puts the ledgers of mappings of a tick into the open transaction: of each that was read what changed in it, at a
// keyframe all that hold.

#include <cstdint>
#include <vector>

#include "model/mapping.h"
#include "store/rows/ledger_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

class LedgerStore {
 public:
  explicit LedgerStore(SQLite::Database& database) : rows_(database) {}

  // After the processes. Those that are not among them have no ledger any more.
  void store(const std::vector<ProcessLedger>& ledgers, const TickContext& context, WriterState& state);

 private:
  void end_gone(const TickContext& context, WriterState& state);
  void take(const ProcessLedger& ledger, const LiveProcess& process, const TickContext& context, WriterState& state);
  void store_read(const ProcessLedger& ledger, LiveLedger& live, const TickContext& context, std::int64_t keyframe_id);
  void store_again(const TickContext& context, const WriterState& state);

  LedgerRows rows_;
};

}  // namespace memoir
