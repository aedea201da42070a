#pragma once

// memoir status: whether it is recording, and what that costs. status_report.cpp tells.

#include "query/command.h"
#include "query/recorder_status.h"

namespace memoir::query {

Command status_command();

Report status_report(const RecorderStatus& status, const Options& options);

}  // namespace memoir::query
