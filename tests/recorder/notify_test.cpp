#include "recorder/notify.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;

namespace {

// The service manager's end: a datagram socket with a path or an abstract name.
Fd listen_at(const std::string& address) {
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, address.data(), address.size());
  const bool abstract = address.front() == '@';
  if (abstract) name.sun_path[0] = '\0';
  const std::size_t length = offsetof(sockaddr_un, sun_path) + address.size() + (abstract ? 0 : 1);
  REQUIRE(bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), static_cast<socklen_t>(length)) == 0);
  return socket;
}

std::string received(const Fd& socket) {
  std::array<char, 256> text{};
  const ssize_t size = recv(socket.get(), text.data(), text.size(), MSG_DONTWAIT);
  return size < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

TEST_CASE("messages reach the manager's socket, one datagram each") {
  const test::TemporaryDirectory directory;
  const bool abstract = GENERATE(false, true);
  const std::string address =
      abstract ? "@memoir-test-notify-" + std::to_string(getpid()) : directory.path() + "/notify";
  const Fd manager = listen_at(address);
  const Notifier notifier(address);
  REQUIRE(notifier.connected());
  notifier.send("READY=1");
  notifier.send("RELOADING=1\nMONOTONIC_USEC=5");
  CHECK(received(manager) == "READY=1");
  CHECK(received(manager) == "RELOADING=1\nMONOTONIC_USEC=5");
  CHECK(received(manager) == "nothing");
}

TEST_CASE("without a manager messages go nowhere") {
  const test::TemporaryDirectory directory;
  Notifier().send("READY=1");
  for (const std::string& address : {std::string(), std::string("relative"), directory.path() + "/nobody",
                                     "/" + std::string(200, 'x'), std::string("@")}) {
    INFO(address);
    const Notifier notifier(address);
    notifier.send("READY=1");
    CHECK_FALSE(notifier.connected());
  }
}

TEST_CASE("a manager that has exited or does not read does not block memoird") {
  const test::TemporaryDirectory directory;
  Fd manager = listen_at(directory.path() + "/notify");
  const Notifier notifier(directory.path() + "/notify");
  for (int i = 0; i < 10'000; ++i) notifier.send("WATCHDOG=1");
  manager.reset();
  notifier.send("WATCHDOG=1");
  SUCCEED("came back");
}

TEST_CASE("the watchdog applies only to the process that it names") {
  using namespace std::chrono_literals;
  setenv("WATCHDOG_USEC", "20000000", 1);
  unsetenv("WATCHDOG_PID");
  CHECK(watchdog_period() == 20s);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  CHECK(watchdog_period() == 20s);
  setenv("WATCHDOG_PID", std::to_string(getpid() + 1).c_str(), 1);  // a different pid even if this process has pid 1
  CHECK_FALSE(watchdog_period());
  unsetenv("WATCHDOG_PID");
  for (const char* text : {"", "0", "-1", "soon", "1.5"}) {
    setenv("WATCHDOG_USEC", text, 1);
    CHECK_FALSE(watchdog_period());
  }
  unsetenv("WATCHDOG_USEC");
  CHECK_FALSE(watchdog_period());
}
