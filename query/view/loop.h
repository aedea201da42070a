#pragma once

// Runs the view on a terminal: reads keys, answers and signals, and shows screens.

#include <string>

#include "base/result.h"
#include "query/session/session.h"
#include "query/view/update.h"
#include "query/view/worker.h"

namespace memoir::query::view {

// Returns when the user quits. The result is the last copied command, empty if there is none. `record`: a file to which
// the names of the keys are written.
Result<std::string> run_on_terminal(Session session, const Setup& setup, const Start& from, const Interaction& around,
                                    const std::optional<std::string>& record);

}  // namespace memoir::query::view
