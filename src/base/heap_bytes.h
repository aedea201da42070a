#pragma once

// Computes the heap memory that strings and vectors own, for limits in bytes.

#include <cstddef>
#include <string>
#include <vector>

namespace memoir {

// Returns 0 for a short text, which is stored inside the string object.
inline std::size_t heap_bytes(const std::string& text) {
  static const std::size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 : 0;
}

// Clears a text and frees its memory, which clear() keeps.
inline void release_memory(std::string& text) {
  std::string().swap(text);
}

// Includes the heap memory of the given string members of each item.
template <typename T, typename... Texts>
std::size_t heap_bytes(const std::vector<T>& items, Texts... texts) {
  std::size_t bytes = items.capacity() * sizeof(T);
  if constexpr (sizeof...(texts) > 0) {
    for (const T& item : items) bytes += (heap_bytes(item.*texts) + ...);
  }
  return bytes;
}

}  // namespace memoir
