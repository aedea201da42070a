#pragma once

// memoir events: OOM kills, and what happened to the recording.

#include "query/answer/command.h"

namespace memoir::query {

Command events_command();

}  // namespace memoir::query
