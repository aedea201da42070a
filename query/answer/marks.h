#pragma once

// What a high-water mark of the store means.

#include <optional>
#include <string>

#include "query/report/report.h"
#include "store/types.h"

namespace memoir::query {

// VmHWM is that of a whole life: one that stood when its UTC day began was reached before.
inline bool stood(const HighWater& mark) {
  return mark.before_ms != mark.at_ms && mark.before_ms < mark.day_ms.value_or(0);
}

inline Value seen_by_value(std::optional<SeenBy> by) {
  return by ? Value(std::string(to_string(*by))) : Value();
}

}  // namespace memoir::query
