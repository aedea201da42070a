#pragma once

// True under a sanitizer, which slows all code down several times.

namespace memoir::test {

// kThreadsSanitized: the thread sanitizer adds a thread to children after some time, and makes vfork() a fork().
#if defined(__has_feature)
inline constexpr bool kThreadsSanitized = __has_feature(thread_sanitizer);
inline constexpr bool kSanitized = __has_feature(address_sanitizer) || kThreadsSanitized;
#elif defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadsSanitized = true;
inline constexpr bool kSanitized = true;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kThreadsSanitized = false;
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kThreadsSanitized = false;
inline constexpr bool kSanitized = false;
#endif

}  // namespace memoir::test
