#pragma once

// Stores lists that each reading provides completely: only the changes, and everything at keyframes.

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace memoir {

// A sample with a valid row.
template <typename Sample>
struct StoredSample {
  Sample last;
  std::int64_t id = 0;  // id of its subject's row
};

// Stores new or changed samples, or all of them, and ends those that are no longer present. Both `samples` and `stored`
// are sorted by `key`, which is unique. Calls id_of(sample), insert(id, sample), end(id).
template <typename Sample, typename Key, typename IdOf, typename Insert, typename End>
void store_changes(const std::vector<Sample>& samples, Key key, bool all, std::vector<StoredSample<Sample>>& stored,
                   const IdOf& id_of, const Insert& insert, const End& end) {
  std::vector<StoredSample<Sample>> now;
  now.reserve(samples.size());
  auto old = stored.begin();
  for (const Sample& sample : samples) {
    for (; old != stored.end() && std::invoke(key, old->last) < std::invoke(key, sample); ++old) end(old->id);
    const bool known = old != stored.end() && std::invoke(key, old->last) == std::invoke(key, sample);
    const std::int64_t id = known ? old->id : id_of(sample);
    if (all || !known || sample != old->last) insert(id, sample);
    now.push_back({sample, id});
    if (known) ++old;
  }
  for (; old != stored.end(); ++old) end(old->id);
  stored = std::move(now);
}

// Stores data that only some ticks read. In the other ticks the last reading is still valid, and keyframes store it
// again.
template <typename Sample, typename Key, typename IdOf, typename Insert, typename End>
void store_changes(const std::optional<std::vector<Sample>>& samples, Key key, bool all,
                   std::vector<StoredSample<Sample>>& stored, const IdOf& id_of, const Insert& insert, const End& end) {
  if (samples) return store_changes(*samples, key, all, stored, id_of, insert, end);
  if (!all) return;
  for (const StoredSample<Sample>& sample : stored) insert(sample.id, sample.last);
}

}  // namespace memoir
