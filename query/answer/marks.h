#pragma once

// What a high-water mark of the store means.

#include "store/types.h"

namespace memoir::query {

// VmHWM is that of a whole life: one that stood when its UTC day began was reached before.
bool stood(const HighWater& mark);

}  // namespace memoir::query
