#pragma once

// Rows of what comes whole at each reading, and is stored by the rule of changes and keyframes.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace memoir {

// A sample that has a row that holds.
template <typename Sample>
struct StoredSample {
  Sample last;
  std::int64_t id = 0;  // of its subject
};

// Stores those that are new or changed, or all of them; and ends those that are not among them any more. Both `samples`
// and `stored` are sorted by `key`, which each has once. `rows`: id_of(sample), insert(id, sample), end(id).
template <typename Sample, typename Key, typename Rows>
void store_changes(const std::vector<Sample>& samples, Key key, bool all, Rows&& rows,
                   std::vector<StoredSample<Sample>>& stored) {
  std::vector<StoredSample<Sample>> now;
  now.reserve(samples.size());
  auto old = stored.begin();
  for (const Sample& sample : samples) {
    for (; old != stored.end() && std::invoke(key, old->last) < std::invoke(key, sample); ++old) rows.end(old->id);
    const bool known = old != stored.end() && std::invoke(key, old->last) == std::invoke(key, sample);
    const std::int64_t id = known ? old->id : rows.id_of(sample);
    if (all || !known || sample != old->last) rows.insert(id, sample);
    now.push_back({sample, id});
    if (known) ++old;
  }
  for (; old != stored.end(); ++old) rows.end(old->id);
  stored = std::move(now);
}

// At a keyframe of which nothing was read: what was read last still holds.
template <typename Sample, typename Rows>
void store_again(const std::vector<StoredSample<Sample>>& stored, Rows&& rows) {
  for (const StoredSample<Sample>& sample : stored) rows.insert(sample.id, sample.last);
}

}  // namespace memoir
