#pragma once

// memoir mappings: what a process mapped at one time, by kind and name.

#include "query/answer/command.h"

namespace memoir::query {

Command mappings_command();

}  // namespace memoir::query
