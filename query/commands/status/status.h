#pragma once

// memoir status: whether it is recording, and what that costs. report.cpp tells.

#include "query/history/recorder_status.h"
#include "query/state/command.h"

namespace memoir::query {

Report status_report(const RecorderStatus& status, const Options& options);

}  // namespace memoir::query
