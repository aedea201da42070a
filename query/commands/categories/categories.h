#pragma once

// memoir categories: the groups that the rules make, and what their members hold together.

#include "query/answer/command.h"

namespace memoir::query {

Command categories_command();

}  // namespace memoir::query
