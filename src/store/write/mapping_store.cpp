#include "store/write/mapping_store.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace memoir {
namespace {

std::vector<LiveMappings>::iterator place_of(WriterState& state, std::int64_t process_id) {
  return std::ranges::lower_bound(state.summaries, process_id, {}, &LiveMappings::process_id);
}

// Returns `summary` without its mappings.
ProcessMappings head_of(const ProcessMappings& summary) {
  return {.process = summary.process,
          .state = summary.state,
          .read_ms = summary.read_ms,
          .regions = summary.regions,
          .cpu_us = summary.cpu_us,
          .wall_us = summary.wall_us};
}

}  // namespace

void MappingStore::store(const std::vector<ProcessMappings>& summaries, const TickContext& context,
                         WriterState& state) {
  end_gone(context, state);
  for (const ProcessMappings& summary : summaries) {
    const LiveProcess* const process = find_sorted(state.processes, summary.process, &LiveProcess::key);
    if (process != nullptr) take(summary, *process, context, state);
  }
  if (context.keyframe) store_again(context, state);
}

void MappingStore::end_gone(const TickContext& context, WriterState& state) {
  std::erase_if(state.summaries, [&](const LiveMappings& live) {
    if (find_sorted(state.processes, live.stored->head.process, &LiveProcess::key) != nullptr) return false;
    rows_.insert(context.tick_id, live.process_id,
                 {.process = live.stored->head.process, .state = MappingState::dropped});
    return true;
  });
}

// Updates the state by one summary. Stores its rows, except at a keyframe, which stores all summaries.
void MappingStore::take(const ProcessMappings& summary, const LiveProcess& process, const TickContext& context,
                        WriterState& state) {
  auto live = place_of(state, process.id);
  const bool known = live != state.summaries.end() && live->process_id == process.id;
  if (summary.state == MappingState::dropped) {
    if (!known) return;
    rows_.insert(context.tick_id, process.id, head_of(summary));
    state.summaries.erase(live);
    return;
  }
  if (!known) {
    live = state.summaries.insert(live, {process.id, std::make_shared<const StoredMappings>()});
  } else if (summary.state != MappingState::exact && summary.state == live->stored->head.state) {
    return;
  }
  if (summary.state == MappingState::exact) {
    store_read(summary, *live, context, state.keyframe_id);
  } else {
    auto stored = std::make_shared<StoredMappings>(*live->stored);
    stored->head.process = summary.process;
    stored->head.state = summary.state;
    live->stored = std::move(stored);
  }
  if (!context.keyframe) rows_.insert(context.tick_id, process.id, live->stored->head);
}

void MappingStore::store_read(const ProcessMappings& summary, LiveMappings& live, const TickContext& context,
                              std::int64_t keyframe_id) {
  auto now = std::make_shared<const std::vector<StoredMapping>>(rows_.mappings_of(summary.summary));
  if (!context.keyframe) {
    const auto before = live.stored->mappings;
    // If there is no stored summary, an earlier one may have been dropped since the keyframe: its rows must end.
    std::vector<std::int64_t> ids;
    if (before == nullptr) ids = rows_.mapping_ids_since(keyframe_id, live.process_id);
    if (before != nullptr) std::ranges::transform(*before, std::back_inserter(ids), &StoredMapping::mapping_id);
    for (const std::int64_t id : ids) {
      if (find_sorted(*now, id, &StoredMapping::mapping_id) == nullptr)
        rows_.insert_gone(context.tick_id, live.process_id, id);
    }
    for (const StoredMapping& mapping : *now) {
      const StoredMapping* const old =
          before == nullptr ? nullptr : find_sorted(*before, mapping.mapping_id, &StoredMapping::mapping_id);
      if (old == nullptr || *old != mapping) rows_.insert(context.tick_id, live.process_id, mapping);
    }
  }
  live.stored = std::make_shared<const StoredMappings>(StoredMappings{head_of(summary), std::move(now)});
}

void MappingStore::store_again(const TickContext& context, const WriterState& state) {
  for (const LiveMappings& live : state.summaries) {
    rows_.insert(context.tick_id, live.process_id, live.stored->head);
    if (live.stored->mappings == nullptr) continue;
    for (const StoredMapping& mapping : *live.stored->mappings) rows_.insert(context.tick_id, live.process_id, mapping);
  }
}

}  // namespace memoir
