#pragma once

// Output of a command as for a terminal of a given size.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/render/terminal.h"

namespace memoir::test {

// Runs memoir on the file at `path` at the time `now_ms`. In the answer, the path is replaced by "DB". Without a screen
// the output is for a pipe.
Result<std::string> answer_on_screen(const std::string& path, std::int64_t now_ms,
                                     const std::vector<std::string>& arguments,
                                     std::optional<query::Screen> screen = query::Screen{});

}  // namespace memoir::test
