#pragma once

#include <cstddef>
#include <vector>

namespace memoir {

// Reserves space for `size` elements and a sixteenth more. A large vector that grows by itself doubles, and may leave
// half of its memory unused. Releases the space if most of it is unused.
template <typename T>
void reserve_closely(std::vector<T>& items, std::size_t size) {
  const std::size_t close = size + size / 16;
  if (items.capacity() > 2 * close && items.capacity() > 1024) items.shrink_to_fit();
  if (items.capacity() < size) items.reserve(close);
}

}  // namespace memoir
