#pragma once

// A long answer goes through a pager, as git's do: $MEMOIR_PAGER, else $PAGER, else less; "cat" or nothing in the first
// of them that is set means none. less gets LESS=FRX where LESS is not set: it ends at once if the answer fits the
// screen after all, lets colours through, and leaves the answer on the screen.

#include <optional>
#include <string>
#include <string_view>

#include "query/render/terminal.h"

namespace memoir::query {

// The command for a shell; absent if there is to be none.
std::optional<std::string> pager_command();

// More lines than the screen has above the prompt.
bool is_longer(std::string_view text, const Screen& screen);

// Shows `text`, and comes back when the user is done with it. False: the pager could not be started, and nothing was
// shown.
bool show_in_pager(const std::string& command, std::string_view text);

}  // namespace memoir::query
