#pragma once

// memoir top: who used the memory. One file answers for one time, one for a range.

#include "base/result.h"
#include "query/answer/command.h"

namespace memoir::query {

Result<Report> top_at(const Context& context);
Result<Report> top_over(const Context& context, Range range);

}  // namespace memoir::query
