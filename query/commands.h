#pragma once

#include <string_view>
#include <vector>

#include "query/command.h"

namespace memoir::query {

Command top_command();
Command processes_command();
Command categories_command();
Command status_command();
Command trend_command();
Command leaks_command();
Command peaks_command();
Command events_command();
Command doctor_command();
Command diff_command();
Command summary_command();
Command export_command();
Command extract_command();
Command backup_command();
Command completion_command();

// All commands, in the order of --help.
const std::vector<Command>& commands();

// The command of that name, or null.
const Command* find_command(std::string_view name);

inline constexpr std::string_view kDefaultCommand = "status";

}  // namespace memoir::query
