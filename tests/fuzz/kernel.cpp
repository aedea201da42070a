#include "proc/kernel.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::kernel(std::string_view text) {
  const auto boot_id = parse_boot_id(text);
  if (boot_id) {
    require(boot_id->size() == 36, "a boot id is a UUID");
  } else {
    require_good(boot_id.error(), text);
  }
}
