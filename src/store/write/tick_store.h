#pragma once

// Puts one tick into the open transaction: the tick's row, what changed, and the high-water marks when they are due.
// Works on a copy of the WriterState, which the caller takes over once the
// transaction has committed.

#include <cstdint>

#include "store/marks/mark_rows.h"
#include "store/rows/exit_rows.h"
#include "store/rows/process_rows.h"
#include "store/rows/sample_rows.h"
#include "store/write/extreme_store.h"
#include "store/write/ledger_store.h"
#include "store/write/outside_store.h"
#include "store/write/writer_state.h"

namespace memoir {

class TickStore {
 public:
  explicit TickStore(SQLite::Database& database);

  // `state` is that at the tick before, and becomes that at this one.
  void store(const Tick& tick, std::int64_t run_id, std::int64_t boot_id, WriterState& state);
  // Everything up to the last tick.
  void flush_marks(WriterState& state);

 private:
  using Info = const ProcessInfo*;

  void flush_ended(WriterState& state);
  void store_processes(const Tick& tick, const TickContext& context, WriterState& state);
  void store_missed(const std::vector<Info>& infos, const Tick& tick, const TickContext& context);
  LiveProcess adopt(const ProcessKey& key, Info info, const TickContext& context, bool& is_new);
  void update(LiveProcess& live, const ProcessSample& sample, const TickContext& context, bool is_new);
  void end(const LiveProcess& live, const Tick& tick, const TickContext& context, WriterState& state);
  void store_machine(const MachineSample& sample, const TickContext& context, WriterState& state);
  void store_other(const std::vector<OtherMeminfo>& other, const TickContext& context, WriterState& state);
  void store_cgroups(const Tick& tick, const TickContext& context, WriterState& state);
  void mark_cgroups(const TickContext& context, WriterState& state);
  void store_categories(const std::vector<CategorySample>& samples, const TickContext& context, WriterState& state);
  void store_ends(const Tick& tick, const TickContext& context, WriterState& state);

  Statement insert_tick_;
  ProcessRows processes_;
  SampleRows samples_;
  LedgerStore ledgers_;
  OutsideStore outside_;
  EndRows ends_;
  ExtremeStore extremes_;
  MarkRows marks_;
  std::int64_t boot_id_ = 0;
};

}  // namespace memoir
