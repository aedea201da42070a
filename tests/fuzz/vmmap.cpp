#include "proc/vmmap.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::vmmap(std::string_view text) {
  const VmmapProcess process = parse_vmmap(text);
  require_good(process.memory, process.regions > 0);
  require_inside(process.path, text);
  std::int64_t regions = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const auto region = parse_vmmap_line(trim(cut_line(rest)));
    if (!region.ok() || !region->has_value()) continue;
    ++regions;
    require((*region)->start <= (*region)->end && (*region)->resident_kib >= 0, "a region is complete");
    require_inside((*region)->name, text);
    require_inside((*region)->details, text);
  }
  require(regions == process.regions, "every region counts");
}
