#pragma once

// memoir status: whether it is recording, and what that costs. report.cpp tells.

#include "query/answer/command.h"
#include "query/answer/recorder_status.h"

namespace memoir::query {

Report status_report(const RecorderStatus& status, const Options& options);

}  // namespace memoir::query
