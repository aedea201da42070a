#pragma once

// /proc/PID/statm: sizes in pages.
//
//   765 434 405 5 0 123 0
//
// All numbers are zero for a kernel thread and a zombie.

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace memoir {

struct Statm {
  std::int64_t size_kib = 0;
  std::int64_t rss_kib = 0;
  std::int64_t shared_kib = 0;  // RssFile + RssShmem
  std::int64_t text_kib = 0;
  std::int64_t data_kib = 0;  // data and stack

  friend bool operator==(const Statm&, const Statm&) = default;
};

// Parses sizes in KiB. An empty text is not_found; anything but seven numbers is malformed.
Result<Statm> parse_statm(std::string_view text, std::int64_t page_kib);

}  // namespace memoir
