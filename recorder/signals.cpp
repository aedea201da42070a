#include "recorder/signals.h"

#include <cerrno>
#include <cstdlib>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/log.h"

namespace memoir {
namespace {

void exit_successfully(int) {
  ::_exit(EXIT_SUCCESS);
}

}  // namespace

void exit_on(std::initializer_list<int> signals) {
  for (const int signal : signals) {
    if (std::signal(signal, exit_successfully) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

Status Signals::hold(std::initializer_list<int> signals) {
  sigset_t held{};
  sigemptyset(&held);
  for (const int signal : signals) sigaddset(&held, signal);
  // Signals are blocked first, because a signal between the two calls would end the program.
  if (const int error = pthread_sigmask(SIG_BLOCK, &held, nullptr); error != 0) {
    return errno_error(error, "block", "signals");
  }
  const int fd = ::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return errno_error(errno, "make", "a signalfd");
  descriptor_.assign(fd);
  // The parent may ignore these signals, as nohup(1) does, and the kernel discards ignored signals.
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
      log_exceptions("signal", [&] { handle_(static_cast<int>(next.ssi_signo)); });
    }
    await_next();
  });
}

}  // namespace memoir
