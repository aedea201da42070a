#pragma once

// The recording that most tests of sessions use.

#include "query/history.h"

namespace memoir::test {

// An hour of a small shop: a worker grows, is killed at its limit, and its service starts it again.
void record_shop(History& history);

}  // namespace memoir::test
