#pragma once

// memoir exits: how processes ended, those included that no tick saw.

#include "query/answer/command.h"

namespace memoir::query {

Command exits_command();

}  // namespace memoir::query
