#pragma once

// sd_notify(3) without its library: one datagram per message to the socket in NOTIFY_SOCKET. Without that variable,
// messages are dropped. Thread: any, after construction.

#include <chrono>
#include <optional>
#include <string_view>

#include "base/file.h"

namespace memoir {

class Notifier {
 public:
  Notifier() = default;
  // `address` is a path, or '@' and a name in the abstract namespace; anything else is refused, as sd_notify does.
  explicit Notifier(std::string_view address);

  // Uses the address in NOTIFY_SOCKET. If that is not set, the Notifier drops all messages.
  static Notifier from_environment();

  bool connected() const { return socket_.valid(); }

  // Sends lines of KEY=VALUE. Never blocks; a message that cannot be sent is lost.
  void send(std::string_view message) const;

 private:
  Fd socket_;
};

// Returns the maximum time between two WATCHDOG=1 messages: WATCHDOG_USEC, if WATCHDOG_PID is this process or not set.
std::optional<std::chrono::microseconds> watchdog_period();

}  // namespace memoir
