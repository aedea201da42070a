#pragma once

// memoir processes: every process of a time or a range.

#include "query/answer/command.h"

namespace memoir::query {

Command processes_command();

}  // namespace memoir::query
