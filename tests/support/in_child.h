#pragma once

#include <array>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/catch.h"

namespace memoir::test {

// Returns the result of `body`, run in a child, and whether the child exited normally.
template <typename Body>
std::string in_child(Body body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGABRT, SIGTERM}) ::signal(signal, SIG_DFL);  // undoes Catch's handlers
    std::string text;
    try {
      text = body();
    } catch (...) {
      ::_exit(1);  // skips cleanup, which the parent does
    }
    const bool written = ::write(to.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  to.reset();
  std::string text;
  std::array<char, 512> piece{};
  for (ssize_t got = 0; (got = ::read(from.get(), piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  return text;
}

}  // namespace memoir::test
