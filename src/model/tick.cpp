#include "model/tick.h"

namespace memoir {

std::string_view to_string(CostKind kind) {
  constexpr std::array<std::string_view, 6> names{"list", "status", "rollup", "identity", "machine", "unknown"};
  return names.at(std::min(static_cast<std::size_t>(kind), names.size() - 1));
}

std::int64_t unattributed_kills(std::int64_t rise, const Tick& tick, std::int64_t& ahead) {
  std::int64_t rest = rise - ahead;
  for (const OomKills& kills : tick.oom_kills) rest -= kills.count + kills.repeated;
  ahead = std::max<std::int64_t>(-rest, 0);
  return std::max<std::int64_t>(rest, 0);
}

}  // namespace memoir
