#pragma once

// What a command prints on a terminal of a given size, without a terminal.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/render/terminal.h"

namespace memoir::test {

// Of the file at `path`, which the answer calls "DB", asked at `now_ms`; without a screen it goes to a pipe.
Result<std::string> answer_on_screen(const std::string& path, std::int64_t now_ms,
                                     const std::vector<std::string>& arguments,
                                     std::optional<query::Screen> screen = query::Screen{});

}  // namespace memoir::test
