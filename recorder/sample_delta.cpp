#include "recorder/sample_delta.h"

namespace memoir {
namespace {

bool is_held_now(const ProcessSample& before, const ProcessSample& now) {
  if (now.source != Source::held) return false;
  ProcessSample held = before;
  held.source = Source::held;
  return held == now;
}

bool next_is(const std::vector<ProcessKey>& keys, std::size_t& next, const ProcessKey& key) {
  if (next == keys.size() || keys[next] != key) return false;
  ++next;
  return true;
}

}  // namespace

std::size_t SampleDelta::bytes() const {
  return changed.capacity() * sizeof(ProcessSample) + (held.capacity() + gone.capacity()) * sizeof(ProcessKey);
}

SampleDelta difference(const Samples& before, const Samples& now) {
  SampleDelta delta;
  auto old = before.begin();
  for (const ProcessSample& sample : now) {
    for (; old != before.end() && old->key < sample.key; ++old) delta.gone.push_back(old->key);
    const bool was = old != before.end() && old->key == sample.key;
    if (was && *old == sample) {
      // Nothing to keep.
    } else if (was && is_held_now(*old, sample)) {
      delta.held.push_back(sample.key);
    } else {
      delta.changed.push_back(sample);
    }
    if (was) ++old;
  }
  for (; old != before.end(); ++old) delta.gone.push_back(old->key);
  delta.changed.shrink_to_fit();
  delta.held.shrink_to_fit();
  delta.gone.shrink_to_fit();
  return delta;
}

Samples applied(const Samples& before, const SampleDelta& delta) {
  Samples now;
  now.reserve(before.size() + delta.changed.size() - delta.gone.size());
  auto changed = delta.changed.begin();
  std::size_t held = 0;
  std::size_t gone = 0;
  for (const ProcessSample& old : before) {
    for (; changed != delta.changed.end() && changed->key < old.key; ++changed) now.push_back(*changed);
    if (changed != delta.changed.end() && changed->key == old.key) {
      now.push_back(*changed++);
    } else if (!next_is(delta.gone, gone, old.key)) {
      now.push_back(old);
      if (next_is(delta.held, held, old.key)) now.back().source = Source::held;
    }
  }
  now.insert(now.end(), changed, delta.changed.end());
  return now;
}

}  // namespace memoir
