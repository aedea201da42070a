#pragma once

// Stores one tick in the open transaction: the tick's row, the changes, and the raised high-water marks. Works on a
// copy of the WriterState, which the caller adopts after the commit.

#include <cstdint>

#include "store/marks/table.h"
#include "store/rows/process_rows.h"
#include "store/rows/sample_rows.h"
#include "store/rows/tick_rows.h"
#include "store/write/extreme_store.h"
#include "store/write/mapping_store.h"
#include "store/write/shmem_store.h"
#include "store/write/writer_state.h"

namespace memoir {

class TickStore {
 public:
  explicit TickStore(SQLite::Database& database);

  // `state` is the state of the previous tick, and becomes the state of this one.
  void store(const Tick& tick, std::int64_t run_id, std::int64_t boot_id, WriterState& state);
  void merge_marks(WriterState& state);

 private:
  using Info = const ProcessInfo*;

  TickActivity activity_of(const Tick& tick, const TickContext& context, const WriterState& state);
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
  void store_exits(const Tick& tick, const TickContext& context, WriterState& state);
  void store_marks(const Tick& tick, const TickContext& context, WriterState& state);

  Statement insert_tick_;
  Statement insert_recorder_memory_;
  ProcessRows processes_;
  SampleRows samples_;
  MappingStore summaries_;
  ShmemStore outside_;
  Statement insert_exit_;
  Statement add_to_exit_sum_;
  ExtremeStore extremes_;
  MarkTable marks_;
  std::int64_t boot_id_ = 0;
};

}  // namespace memoir
