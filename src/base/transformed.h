#pragma once

// Transforms each item into an element of a vector, in order.

#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace memoir {

// `of`: a function, or a member.
template <typename Items, typename Of>
auto transformed(Items&& items, Of of) {
  std::vector<std::decay_t<std::invoke_result_t<Of&, decltype(*std::begin(items))>>> all;
  all.reserve(std::size(items));
  for (auto&& item : items) all.push_back(std::invoke(of, item));
  return all;
}

template <typename Map>
auto keys_of(const Map& map) {
  return transformed(map, [](const auto& entry) { return entry.first; });
}

// Returns the values, moved out of the map.
template <typename Map>
auto taken_from(Map& map) {
  return transformed(map, [](auto& entry) { return std::move(entry.second); });
}

}  // namespace memoir
