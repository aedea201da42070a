#include "store/write/ledger_store.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace memoir {
namespace {

std::vector<LiveLedger>::iterator place_of(WriterState& state, std::int64_t process_id) {
  return std::ranges::lower_bound(state.ledgers, process_id, {}, &LiveLedger::process_id);
}

// `ledger` without its mappings.
ProcessLedger head_of(const ProcessLedger& ledger) {
  return {.process = ledger.process,
          .state = ledger.state,
          .read_ms = ledger.read_ms,
          .regions = ledger.regions,
          .cpu_us = ledger.cpu_us,
          .wall_us = ledger.wall_us};
}

}  // namespace

void LedgerStore::store(const std::vector<ProcessLedger>& ledgers, const TickContext& context, WriterState& state) {
  end_gone(context, state);
  for (const ProcessLedger& ledger : ledgers) {
    const LiveProcess* const process = find_sorted(state.processes, ledger.process, &LiveProcess::key);
    if (process != nullptr) take(ledger, *process, context, state);
  }
  if (context.keyframe) store_again(context, state);
}

void LedgerStore::end_gone(const TickContext& context, WriterState& state) {
  std::erase_if(state.ledgers, [&](const LiveLedger& live) {
    if (find_sorted(state.processes, live.stored->head.process, &LiveProcess::key) != nullptr) return false;
    rows_.insert(context.tick_id, live.process_id,
                 {.process = live.stored->head.process, .state = LedgerState::dropped});
    return true;
  });
}

// At a keyframe its rows are stored with those of all others.
void LedgerStore::take(const ProcessLedger& ledger, const LiveProcess& process, const TickContext& context,
                       WriterState& state) {
  auto live = place_of(state, process.id);
  const bool known = live != state.ledgers.end() && live->process_id == process.id;
  if (ledger.state == LedgerState::dropped) {
    if (!known) return;
    rows_.insert(context.tick_id, process.id, head_of(ledger));
    state.ledgers.erase(live);
    return;
  }
  if (!known) {
    live = state.ledgers.insert(live, {process.id, std::make_shared<const StoredLedger>()});
  } else if (ledger.state != LedgerState::exact && ledger.state == live->stored->head.state) {
    return;
  }
  if (ledger.state == LedgerState::exact) {
    store_read(ledger, *live, context, state.keyframe_id);
  } else {
    auto stored = std::make_shared<StoredLedger>(*live->stored);
    stored->head.process = ledger.process;
    stored->head.state = ledger.state;
    live->stored = std::move(stored);
  }
  if (!context.keyframe) rows_.insert(context.tick_id, process.id, live->stored->head);
}

void LedgerStore::store_read(const ProcessLedger& ledger, LiveLedger& live, const TickContext& context,
                             std::int64_t keyframe_id) {
  auto now = std::make_shared<const std::vector<StoredMapping>>(rows_.mappings_of(ledger.ledger));
  if (!context.keyframe) {
    const auto before = live.stored->mappings;
    // A process may have had a ledger that was dropped since the keyframe.
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
  live.stored = std::make_shared<const StoredLedger>(StoredLedger{head_of(ledger), std::move(now)});
}

void LedgerStore::store_again(const TickContext& context, const WriterState& state) {
  for (const LiveLedger& live : state.ledgers) {
    rows_.insert(context.tick_id, live.process_id, live.stored->head);
    if (live.stored->mappings == nullptr) continue;
    for (const StoredMapping& mapping : *live.stored->mappings) rows_.insert(context.tick_id, live.process_id, mapping);
  }
}

}  // namespace memoir
