#pragma once

// memoir backup: a copy of the whole file.

#include "query/answer/command.h"

namespace memoir::query {

Command backup_command();

}  // namespace memoir::query
