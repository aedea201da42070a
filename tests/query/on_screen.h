#pragma once

// Output of a command for a terminal of a given size, without a terminal.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/render/terminal.h"

namespace memoir::test {

// On the file at `path`, which the answer calls "DB", at `now_ms`; without a screen it goes to a pipe.
Result<std::string> answer_on_screen(const std::string& path, std::int64_t now_ms,
                                     const std::vector<std::string>& arguments,
                                     std::optional<query::Screen> screen = query::Screen{});

}  // namespace memoir::test
