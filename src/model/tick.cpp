#include "model/tick.h"

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

}  // namespace memoir
