#pragma once

// FNV-1a, of 32 bits: the same in every run and on every machine, for what is kept. It tells texts apart as long as
// nobody tries; who finds a text by it compares the texts too.
// http://www.isthe.com/chongo/tech/comp/fnv/

#include <cstdint>
#include <string_view>

namespace memoir {

constexpr std::uint32_t digest_of(std::string_view text) {
  std::uint32_t digest = 2166136261U;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 16777619U;
  return digest;
}

}  // namespace memoir
