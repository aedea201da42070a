#pragma once

// One value of each process as steps, in a single pass that reads no more columns than the value is made of.

#include <functional>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

void visit_value_steps(SQLite::Database& database, const ValueQuestion& question,
                       const std::function<void(const ValueStep&)>& visit);

}  // namespace memoir
