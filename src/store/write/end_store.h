#pragma once

// The ends of a tick, in the store: after its processes, whose rows they are of.

#include <cstdint>

#include "store/rows/end_rows.h"
#include "store/rows/process_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

class EndStore {
 public:
  explicit EndStore(SQLite::Database& database) : rows_(database) {}

  void store(const Tick& tick, std::int64_t boot_id, const TickContext& context, ProcessRows& processes,
             WriterState& state);

 private:
  EndRows rows_;
};

}  // namespace memoir
