#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace memoir::query {

// Sets a UTF-8 locale for characters and their widths in any environment: names may be foreign, and terminals are
// UTF-8.
void use_utf8();

struct Screen {
  std::size_t columns = 80;
  std::size_t lines = 24;
  bool fit = false;  // an answer longer than the screen is shortened to it
};

// Returns the size of the terminal on standard output, or on another file ($COLUMNS and $LINES have precedence);
// nullopt if the file is not a terminal.
std::optional<Screen> terminal_screen();
std::optional<Screen> terminal_screen(int file);

// Returns $COLUMNS, even if standard output is not a terminal: `watch` and scripts set it to their width.
std::optional<std::size_t> columns_asked();

// Returns whether the display only supports ASCII: a terminal that is "dumb", or a locale without UTF-8.
bool shows_ascii_only();

// Colour is used on a terminal that is not "dumb", unless NO_COLOR is set and not empty (no-color.org).
bool terminal_has_color();

// Shows progress in one line on standard error if that is a terminal; the second function removes the line.
void show_progress(std::string_view what, int percent);
void end_progress();

}  // namespace memoir::query
