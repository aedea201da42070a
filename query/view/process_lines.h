#pragma once

// A process in a few lines: who it is, its memory, its largest mappings, its other lives and its events. Above the rest
// of its page, and right of a table on a wide screen. Pure.

#include <string>
#include <vector>

#include "query/view/model.h"

namespace memoir::query::view {

// Above its chart: identity and memory. Empty until the answer is available.
std::vector<Line> process_head(const Model& model, std::size_t width);
// Below it: mappings, other lives, events.
std::vector<Line> process_details(const Model& model, std::size_t width);

}  // namespace memoir::query::view
