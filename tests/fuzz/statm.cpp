#include "proc/statm.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::statm(std::string_view text) {
  const auto sizes = parse_statm(text, 4);
  if (!sizes) return require_good(sizes.error(), text);
  for (const std::int64_t kib :
       {sizes->size_kib, sizes->rss_kib, sizes->shared_kib, sizes->text_kib, sizes->data_kib}) {
    require(kib >= 0 && kib % 4 == 0, "sizes are whole pages");
  }
}
