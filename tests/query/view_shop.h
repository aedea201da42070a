#pragma once

// The recording of most sessions of memoir view.

#include "query/history.h"

namespace memoir::test {

// An hour of a small shop: a worker grows, is killed at its limit, and is started again by its service.
void record_shop(History& history);

}  // namespace memoir::test
