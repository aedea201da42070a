#pragma once

// The line in which a user types: a time, a filter, a command. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/view/update.h"

namespace memoir::query::view {

// Splits a line into words as a shell does, with quotes; no expansions.
Words split_words(std::string_view text);

void open_prompt(Model& model, Ask ask);
// Handles a key while a prompt is open.
void type(Step& step, const std::string& key);

// Returns the text of the status line, such as "jump to: 02:00".
std::string prompt_text(const Model& model);
// Returns what the typed text means. It is shown to the right of the text.
std::string prompt_meaning(const Model& model);

void open_sort_menu(Model& model);
void open_group_menu(Model& model);
void open_save_menu(Model& model);
void by_memory(Model& model);
// Handles a key while a menu is open.
void choose(Step& step, const std::string& key);
void choose_by(Model& model, int direction);

}  // namespace memoir::query::view
