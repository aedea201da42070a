#include "proc/zoneinfo.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {

Result<std::int64_t> parse_per_cpu_free(std::string_view text, std::int64_t page_kib, OddLines* odd) {
  constexpr std::string_view key = "count:";
  std::int64_t pages = 0;
  bool any = false;
  bool known = true;
  KeyLine line;
  while (next_line(text, '\n', line)) {
    std::string_view rest = trim(line.text);
    if (!rest.starts_with(key)) continue;
    rest.remove_prefix(key.size());
    const auto count = line.torn ? std::nullopt : parse_natural(trim(rest));
    any = true;
    if (count && !__builtin_add_overflow(pages, *count, &pages)) continue;
    known = false;
    if (odd != nullptr) odd->note("zoneinfo", "count", line.text);
  }
  std::int64_t kib = 0;
  if (!any || !known || __builtin_mul_overflow(pages, page_kib, &kib)) return nothing_known("zoneinfo");
  return kib;
}

}  // namespace memoir
