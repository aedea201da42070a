#include "model/tick.h"

#include <algorithm>

namespace memoir {

std::string_view to_string(CostKind kind) {
  switch (kind) {
    case CostKind::list:
      return "list";
    case CostKind::status:
      return "status";
    case CostKind::rollup:
      return "rollup";
    case CostKind::identity:
      return "identity";
    case CostKind::machine:
      return "machine";
    case CostKind::count_:
      break;
  }
  return "unknown";
}

std::int64_t untold_kills(std::int64_t rise, const Tick& tick, std::int64_t& ahead) {
  std::int64_t rest = rise - ahead;
  for (const OomKills& kills : tick.oom_kills) rest -= kills.count;
  ahead = std::max<std::int64_t>(-rest, 0);
  return std::max<std::int64_t>(rest, 0);
}

}  // namespace memoir
