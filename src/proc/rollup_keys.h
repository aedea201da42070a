#pragma once

// The keys of the rollup fields, which smaps_rollup and each region of smaps share. Used only by their two parsers.

#include "model/process.h"
#include "proc/key_lines.h"

namespace memoir {

inline constexpr auto kRollupKeys = key_table<0, kRollupFields>(kProcessFields);

}  // namespace memoir
