#include <cstdio>
#include <exception>

#include "query/application.h"
#include "query/terminal.h"

int main(int argc, char** argv) {
  using memoir::query::Exit;
  memoir::query::use_utf8();
  try {
    const memoir::query::Outcome outcome =
        memoir::query::answer(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), memoir::SystemClock{});
    std::fputs(outcome.error.c_str(), stderr);
    // A reader that has seen enough (`memoir top | head`) ends us by SIGPIPE, quietly.
    const std::size_t written = std::fwrite(outcome.out.data(), 1, outcome.out.size(), stdout);
    if (written != outcome.out.size() || std::fflush(stdout) != 0) {
      std::perror("memoir: cannot write the answer");
      return static_cast<int>(Exit::failed);
    }
    return static_cast<int>(outcome.exit);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memoir: %s\n", error.what());
    return static_cast<int>(Exit::failed);
  }
}
