#pragma once

// Common parts of backup and extract: the destination, the progress, and the result.

#include <functional>
#include <string_view>

#include "base/result.h"
#include "query/args/options.h"
#include "query/report/report.h"
#include "store/copy/copy.h"

namespace memoir::query {

// Copies to --output, with progress on a terminal; an interruption leaves no file. `what` starts the title: "backup"
// gives "backup of F".
Result<Report> copy_to_output(const std::string& database, const Options& options, std::string_view what,
                              const std::function<Status(const CopyPlan&)>& copy);

}  // namespace memoir::query
