#pragma once

#include <algorithm>
#include <functional>

namespace memoir {

// Of what is sorted by `key` the one whose key is `wanted`; nullptr: there is none.
template <typename Sorted, typename Wanted, typename Key>
auto* find_sorted(Sorted& sorted, const Wanted& wanted, Key key) {
  const auto found = std::ranges::lower_bound(sorted, wanted, {}, key);
  return found != sorted.end() && std::invoke(key, *found) == wanted ? &*found : nullptr;
}

}  // namespace memoir
