#include "query/terminal.h"

#include <clocale>
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

std::optional<std::size_t> terminal_width() {
  if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
  const char* columns = std::getenv("COLUMNS");
  if (const auto width = columns == nullptr ? std::nullopt : parse_int<std::size_t>(columns); width && *width > 0) {
    return width;
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool terminal_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  return isatty(STDOUT_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

}  // namespace memoir::query
