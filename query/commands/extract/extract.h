#pragma once

// memoir extract: what a range holds, as a file of its own.

#include "query/answer/command.h"

namespace memoir::query {

Command extract_command();

}  // namespace memoir::query
