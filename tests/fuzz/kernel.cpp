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
  const auto btime = parse_btime(text);
  if (btime) {
    require(*btime >= 0 && *btime % 1000 == 0, "btime is whole seconds");
  } else {
    require_good(btime.error(), text);
  }
  const auto uptime = parse_uptime(text);
  if (uptime) {
    require(*uptime >= 0 && *uptime % 10 == 0, "uptime is whole hundredths");
  } else {
    require_good(uptime.error(), text);
  }
}
