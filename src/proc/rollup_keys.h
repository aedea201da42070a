#pragma once

// The lines that smaps_rollup and each region of smaps have in common, those of the rollup fields. For the parsers of
// the two.

#include "model/process.h"
#include "proc/key_lines.h"

namespace memoir {

inline constexpr auto kRollupKeys = key_table<0, kRollupFields>(kProcessFields);

}  // namespace memoir
