#include "recorder/signals.h"

#include <cerrno>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"

namespace memoir {

Status Signals::hold(std::initializer_list<int> signals) {
  sigset_t held{};
  sigemptyset(&held);
  for (const int signal : signals) sigaddset(&held, signal);
  const int fd = ::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return errno_error(errno, "cannot make a", "signalfd");
  descriptor_.assign(fd);
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  // Who started us may have them ignored, as nohup(1) does: such a signal need not wait.
  for (const int signal : signals) std::signal(signal, SIG_DFL);
  return Done{};
}

void Signals::await(std::function<void(int)> handle) {
  handle_ = std::move(handle);
  await_next();
}

void Signals::await_next() {
  descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (error) return;
    signalfd_siginfo next{};
    if (::read(descriptor_.native_handle(), &next, sizeof(next)) == sizeof(next)) {
      handle_(static_cast<int>(next.ssi_signo));
    }
    await_next();
  });
}

}  // namespace memoir
