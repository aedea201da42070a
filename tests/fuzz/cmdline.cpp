#include "proc/cmdline.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::cmdline(std::string_view text) {
  std::size_t bytes = 0;
  for (const std::string_view argument : parse_cmdline(text)) {
    require_inside(argument, text);
    require(!argument.empty() && argument.find('\0') == std::string_view::npos,
            "an argument is not empty, without NUL");
    bytes += argument.size();
  }
  std::size_t expected = 0;
  for (const char c : text) expected += c != '\0' ? 1 : 0;
  require(bytes == expected, "no byte is lost");
}
