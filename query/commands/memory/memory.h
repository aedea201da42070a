#pragma once

// memoir memory: where all the memory of the machine is.

#include "query/answer/command.h"

namespace memoir::query {

Command memory_command();

}  // namespace memoir::query
