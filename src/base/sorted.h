#pragma once

#include <algorithm>
#include <functional>

namespace memoir {

// Finds the element with the key `wanted` in a range sorted by `key`; nullptr without one.
template <typename Sorted, typename Wanted, typename Key>
auto* find_sorted(Sorted& sorted, const Wanted& wanted, Key key) {
  const auto found = std::ranges::lower_bound(sorted, wanted, {}, key);
  return found != sorted.end() && std::invoke(key, *found) == wanted ? &*found : nullptr;
}

}  // namespace memoir
