#pragma once

// Whether a sanitizer watches: everything takes several times as long, and what is tried at thousands of places in the
// plain build is tried at fewer.

namespace memoir::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace memoir::test
