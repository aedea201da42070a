#include "store/write/end_store.h"

namespace memoir {
namespace {

constexpr std::int64_t kBlockMs = 5 * 60 * 1000;

}  // namespace

void EndStore::store(const Tick& tick, std::int64_t boot_id, const TickContext& context, ProcessRows& processes,
                     WriterState& state) {
  for (const ProcessEnd& end : tick.ends) {
    if (const auto row = processes.find(boot_id, end.process)) rows_.insert(context.tick_id, row->id, end);
  }
  const std::int64_t block = context.time.at_ms / kBlockMs;
  if (block != state.ends.block || context.first) state.ends = {block, context.tick_id};
  for (const EndSum& sum : tick.end_sums)
    rows_.add(state.ends.tick_id, processes.cgroup_id(sum.cgroup, context.time.at_ms), sum);
}

}  // namespace memoir
