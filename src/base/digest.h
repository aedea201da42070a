#pragma once

// Digests of stored texts: the same in every run and on every machine. Code that finds a text by its digest compares
// the texts too.

#include <cstdint>
#include <string_view>

namespace memoir {

// FNV-1a, 32 bits, for short names. Collisions are easy to construct. http://www.isthe.com/chongo/tech/comp/fnv/
constexpr std::uint32_t short_digest(std::string_view text) {
  std::uint32_t digest = 2166136261U;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 16777619U;
  return digest;
}

// SipHash-2-4, 64 bits. It is infeasible to construct many texts with one digest, which would slow every lookup. The
// key is not secret. J.-P. Aumasson, D. J. Bernstein: SipHash: a fast short-input PRF, 2012.
// https://www.aumasson.jp/siphash/siphash.pdf
struct DigestKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};
std::uint64_t digest_of(std::string_view text, const DigestKey& key = {});

}  // namespace memoir
