#include "query/terminal.h"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

namespace memoir::query {

void use_utf8() {
  const bool set = std::setlocale(LC_CTYPE, "") != nullptr;
  if (!set || std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

namespace {

std::optional<std::size_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  const auto number = text == nullptr ? std::nullopt : parse_int<std::size_t>(text);
  return number && *number > 0 ? number : std::nullopt;
}

}  // namespace

std::optional<Screen> terminal_screen() {
  return terminal_screen(STDOUT_FILENO);
}

std::optional<Screen> terminal_screen(int file) {
  if (isatty(file) == 0) return std::nullopt;
  Screen screen;
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) screen.columns = size.ws_col;
    if (size.ws_row > 0) screen.lines = size.ws_row;
  }
  screen.columns = number_in("COLUMNS").value_or(screen.columns);
  screen.lines = number_in("LINES").value_or(screen.lines);
  return screen;
}

bool terminal_is_dumb() {
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (term == nullptr || std::strcmp(term, "dumb") == 0);
}

bool terminal_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return isatty(STDOUT_FILENO) != 0 && !terminal_is_dumb();
}

void show_progress(std::string_view what, int percent) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\rmemoir: %.*s: %d%%", static_cast<int>(what.size()), what.data(), percent);
  std::fflush(stderr);
}

void end_progress() {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace memoir::query
