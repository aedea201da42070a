#pragma once

// The view on a terminal: keys, answers and signals in; screens out.

#include <string>

#include "base/result.h"
#include "query/session/session.h"
#include "query/view/update.h"
#include "query/view/worker.h"

namespace memoir::query::view {

// Until the user ends it. Returns the command copied last; empty without one. `record`: a file for the names of the
// keys.
Result<std::string> run_on_terminal(Session session, const Setup& setup, const Start& from, const Interaction& around,
                                    const std::optional<std::string>& record);

}  // namespace memoir::query::view
