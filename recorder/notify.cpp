#include "recorder/notify.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

namespace memoir {

Notifier::Notifier(std::string_view address) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const bool abstract = address.starts_with('@');
  if ((!abstract && !address.starts_with('/')) || address.size() >= sizeof(to.sun_path)) return;
  std::memcpy(to.sun_path, address.data(), address.size());
  if (abstract) to.sun_path[0] = '\0';
  // An abstract name has an explicit length, a path ends with a NUL.
  const std::size_t length = offsetof(sockaddr_un, sun_path) + address.size() + (abstract ? 0 : 1);
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), static_cast<socklen_t>(length)) != 0) return;
  socket_ = std::move(socket);
}

Notifier Notifier::from_environment() {
  const char* address = std::getenv("NOTIFY_SOCKET");
  return address == nullptr ? Notifier() : Notifier(address);
}

void Notifier::send(std::string_view message) const {
  if (!socket_) return;
  // MSG_NOSIGNAL: an exited manager must not raise SIGPIPE.
  [[maybe_unused]] const ssize_t sent = ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

std::optional<std::chrono::microseconds> watchdog_period() {
  const char* period = std::getenv("WATCHDOG_USEC");
  if (period == nullptr) return std::nullopt;
  if (const char* pid = std::getenv("WATCHDOG_PID"); pid != nullptr && parse_number<pid_t>(pid) != getpid()) {
    return std::nullopt;
  }
  const auto us = parse_number<std::int64_t>(period);
  if (!us || *us <= 0) return std::nullopt;
  return std::chrono::microseconds(*us);
}

}  // namespace memoir
