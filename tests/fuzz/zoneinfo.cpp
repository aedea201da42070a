#include "proc/zoneinfo.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::zoneinfo(std::string_view text) {
  const auto kib = parse_per_cpu_free(text, 4);
  if (!kib) return require(kib.error().kind == ErrorKind::malformed, "the error's kind");
  require(*kib >= 0, "the sum is not negative");
}
