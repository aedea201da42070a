#include "query/pager.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>

namespace memoir::query {

std::optional<std::string> pager_command() {
  for (const char* variable : {"MEMOIR_PAGER", "PAGER"}) {
    const char* set = std::getenv(variable);
    if (set == nullptr) continue;
    const std::string command(set);
    return command.empty() || command == "cat" ? std::nullopt : std::optional(command);
  }
  return "less";
}

bool is_longer(std::string_view text, const Screen& screen) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= screen.lines;
}

bool show_in_pager(const std::string& command, std::string_view text) {
  setenv("LESS", "FRX", 0);
  std::FILE* pager = popen(command.c_str(), "w");
  if (pager == nullptr) return false;
  // Ctrl-C is for the pager; so is its end before all is written.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::fwrite(text.data(), 1, text.size(), pager);
  const int status = pclose(pager);
  constexpr int not_found = 127;
  constexpr int not_executable = 126;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return code != not_found && code != not_executable;
}

}  // namespace memoir::query
