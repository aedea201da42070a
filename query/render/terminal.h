#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace memoir::query {

// Characters and widths of UTF-8, whatever the environment: names come from anywhere, and terminals are UTF-8.
void use_utf8();

struct Screen {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

// Of the terminal on standard output, or on another file ($COLUMNS and $LINES come first); absent if it is none.
std::optional<Screen> terminal_screen();
std::optional<Screen> terminal_screen(int file);

// What $COLUMNS says, also where standard output is no terminal: `watch` and scripts say so how wide they show it.
std::optional<std::size_t> columns_asked();

// Whether what shows the answer has nothing but ASCII: a terminal that is "dumb", or a locale without UTF-8.
bool shows_ascii_only();

// Colour suits a terminal that is not "dumb", unless NO_COLOR is set to something (no-color.org).
bool terminal_has_color();

// How far a long work has come, in one line on standard error where that is a terminal; and that line gone again.
void show_progress(std::string_view what, int percent);
void end_progress();

}  // namespace memoir::query
