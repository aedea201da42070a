#include "query/answer/marks.h"

namespace memoir::query {

bool stood(const HighWater& mark) {
  return mark.before_ms != mark.at_ms && mark.before_ms < mark.day_ms.value_or(0);
}

}  // namespace memoir::query
