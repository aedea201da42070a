#pragma once

// Puts one tick into the open transaction: the tick's row, what changed, and the high-water marks that it raises.
// Works on a copy of the WriterState, which the caller takes over once the transaction has committed.

#include <cstdint>

#include "store/marks/table.h"
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
  void merge_marks(WriterState& state);

 private:
  using Info = const ProcessInfo*;

  void store_processes(const Tick& tick, const TickContext& context, WriterState& state);
  void store_missed(const std::vector<Info>& infos, const Tick& tick, const TickContext& context);
  LiveProcess adopt(const ProcessKey& key, Info info, const TickContext& context, bool& is_new);
  // `is_new`: the process has no row of an earlier run. `regrouped`: its identity or cgroup changed.
  void update(LiveProcess& live, const ProcessSample& sample, const TickContext& context, WriterState& state,
              bool is_new, bool regrouped);
  void end(const LiveProcess& live, const Tick& tick, const TickContext& context, WriterState& state);
  void store_machine(const MachineSample& sample, const TickContext& context, WriterState& state);
  void store_other(const std::vector<OtherMeminfo>& other, const TickContext& context, WriterState& state);
  void store_cgroups(const Tick& tick, const TickContext& context, WriterState& state);
  void store_categories(const std::vector<CategorySample>& samples, const TickContext& context, WriterState& state);
  void store_ends(const Tick& tick, const TickContext& context, WriterState& state);
  void store_marks(const Tick& tick, const TickContext& context, WriterState& state);

  Statement insert_tick_;
  ProcessRows processes_;
  SampleRows samples_;
  LedgerStore ledgers_;
  OutsideStore outside_;
  EndRows ends_;
  ExtremeStore extremes_;
  MarkTable marks_;
  std::int64_t boot_id_ = 0;
};

}  // namespace memoir
