#pragma once

// memoir shm: the System V shared memory segments at one time.

#include "query/answer/command.h"

namespace memoir::query {

Command shm_command();

}  // namespace memoir::query
