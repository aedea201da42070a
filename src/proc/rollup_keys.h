#pragma once

// The rollup fields' lines, common to smaps_rollup and each region of smaps. Only for their two parsers.

#include "model/process.h"
#include "proc/key_lines.h"

namespace memoir {

inline constexpr auto kRollupKeys = key_table<0, kRollupFields>(kProcessFields);

}  // namespace memoir
