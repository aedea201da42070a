#include "recorder/signals.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "support/catch.h"
#include "support/in_child.h"

using namespace memoir;

namespace {

// Returns the numbers of the first `count` signals received, in ascending order. Runs in a child process, so that the
// signals of this process do not change.
std::string heard(const std::vector<int>& sent, std::size_t count, void (*before)(int) = SIG_DFL, bool throws = false) {
  return test::in_child([&] {
    asio::io_context loop{1};
    Signals stops{loop};
    Signals signals{loop};
    ::signal(SIGHUP, before);
    if (!stops.hold({SIGTERM}) || !signals.hold({SIGHUP, SIGUSR1})) return std::string("cannot hold them");
    for (const int signal : sent) ::raise(signal);
    std::vector<int> all;
    const auto hear = [&](int signal) {
      all.push_back(signal);
      if (all.size() == count) loop.stop();
      if (throws) throw std::runtime_error("a handler's fault");
    };
    stops.await(hear);
    signals.await(hear);
    ::alarm(60);
    loop.run();
    std::ranges::sort(all);
    std::string text;
    for (const int signal : all) text += std::to_string(signal) + " ";
    return text;
  });
}

}  // namespace

TEST_CASE("blocked signals stay pending and are read") {
  CHECK(heard({SIGUSR1}, 1) == "10 ");
  CHECK(heard({SIGUSR1, SIGHUP, SIGTERM}, 3) == "1 10 15 ");
}

TEST_CASE("a signal that stops a start ends the program with status 0, unless it is held") {
  const auto stopped = [](bool held) {
    return test::in_child([held] {
      exit_on({SIGTERM});
      asio::io_context loop{1};
      Signals stops{loop};
      if (held && !stops.hold({SIGTERM})) return std::string("cannot hold it");
      ::raise(SIGTERM);
      return std::string("goes on");
    });
  };
  CHECK(stopped(false).empty());
  CHECK(stopped(true) == "goes on");
}

TEST_CASE("a flood of pending signals is one of each and hides no other") {
  std::vector<int> storm(100'000, SIGUSR1);
  storm.push_back(SIGTERM);
  CHECK(heard(storm, 2) == "10 15 ");
}

TEST_CASE("a signal that was ignored before is received") {
  CHECK(heard({SIGHUP}, 1, SIG_IGN) == "1 ");
}

TEST_CASE("after a handler has thrown, the next signal is received") {
  CHECK(heard({SIGUSR1, SIGHUP}, 2, SIG_DFL, true) == "1 10 ");
}
