#include "query/render/terminal.h"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

namespace memoir::query {

namespace {

// Checks the locale of the environment, not the locale that this program has set.
bool locale_is_utf8() {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool is_utf8 = std::strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
  freelocale(locale);
  return is_utf8;
}

std::optional<std::size_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  const auto number = text == nullptr ? std::nullopt : parse_number<std::size_t>(text);
  return number && *number > 0 ? number : std::nullopt;
}

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (term == nullptr || std::strcmp(term, "dumb") == 0);
}

}  // namespace

void use_utf8() {
  if (!locale_is_utf8() || std::setlocale(LC_CTYPE, "") == nullptr) std::setlocale(LC_CTYPE, "C.UTF-8");
}

bool shows_ascii_only() {
  return !locale_is_utf8() || is_dumb();
}

std::optional<std::size_t> columns_asked() {
  return number_in("COLUMNS");
}

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
  screen.columns = columns_asked().value_or(screen.columns);
  screen.lines = number_in("LINES").value_or(screen.lines);
  return screen;
}

bool terminal_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return isatty(STDOUT_FILENO) != 0 && !is_dumb();
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
