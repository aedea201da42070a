#include "proc/cmdline.h"

#include "base/text.h"

namespace memoir {

std::vector<std::string_view> parse_cmdline(std::string_view text) {
  std::vector<std::string_view> arguments;
  while (!text.empty()) {
    const std::string_view argument = cut(text, '\0');
    if (!argument.empty()) arguments.push_back(argument);
  }
  return arguments;
}

}  // namespace memoir
