#include "query/command_line.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

// Each line of the text is an argument of memoir.
void memoir::fuzz::command_line(std::string_view text) {
  std::vector<std::string> arguments;
  while (!text.empty() && arguments.size() < 32) arguments.emplace_back(cut_line(text));
  const auto invocation = query::parse_command_line(arguments);
  if (!invocation) {
    require(invocation.error().kind == ErrorKind::malformed, "the error's kind");
    return require(!invocation.error().message.empty(), "an error says something");
  }
  require(invocation->command != nullptr || invocation->help || invocation->version, "there is something to do");
  require(invocation->options.limit.value_or(0) >= 0, "a limit is not negative");
}
