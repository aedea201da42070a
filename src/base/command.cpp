#include "base/command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"

namespace memoir {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kKeptOfErrors = 1024;
constexpr std::size_t kShownOfErrors = 200;
// How long to wait for a killed program to exit.
constexpr std::chrono::milliseconds kDyingTime{1'000};
// Interval at which the stop token is checked.
constexpr std::int64_t kStopCheckMs = 100;
// Interval at which the exit is checked without a pidfd: before Linux 5.3, or if a seccomp filter forbids it.
constexpr std::int64_t kExitCheckMs = 1;

// Reads available data and appends it to `into`, up to a length of `most` bytes. Returns false if some data did not
// fit. Closes the descriptor at the end of the data.
bool read_some(Fd& fd, std::string& into, std::size_t most) {
  std::array<char, 16 * 1024> piece{};
  const ssize_t count = ::read(fd.get(), piece.data(), piece.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) {
    fd.reset();
    return true;
  }
  const std::size_t room = most - into.size();
  into.append(piece.data(), std::min(room, static_cast<std::size_t>(count)));
  return static_cast<std::size_t>(count) <= room;
}

class Running {
 public:
  Running(std::string path, pid_t pid, Fd out, Fd err, const CommandLimits& limits)
      : path_(std::move(path)), pid_(pid), out_(std::move(out)), err_(std::move(err)), limits_(limits) {}

  Result<CommandOutput> finish() {
    const Status read = read_to_end();
    if (!read) {
      kill();
      return read.error();
    }
    if (!reap(deadline_, limits_.stop)) {
      kill();
      return late();
    }
    return CommandOutput{pid_, std::move(printed_), problem(), cpu_us()};
  }

 private:
  Error late() const {
    if (limits_.stop.stop_requested()) return {ErrorKind::blocked, path_ + " was stopped"};
    return Error{ErrorKind::blocked,
                 fmt::format("{} did not exit within {} ms and was killed", path_, limits_.time.count())};
  }

  Status read_to_end() {
    while (out_ || err_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - SteadyClock::now()).count();
      if (left <= 0 || limits_.stop.stop_requested()) return late();
      // A closed descriptor is -1, which poll ignores.
      std::array<pollfd, 2> ends{pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
      const auto patience = limits_.stop.stop_possible() ? std::min<std::int64_t>(left, kStopCheckMs) : left;
      if (::poll(ends.data(), ends.size(), static_cast<int>(patience)) < 0 && errno != EINTR)
        return errno_error(errno, "wait for", path_);
      if (ends[1].revents != 0) read_some(err_, complained_, kKeptOfErrors);
      if (ends[0].revents != 0 && !read_some(out_, printed_, limits_.bytes)) {
        return Error{ErrorKind::io, fmt::format("{} printed more than {} bytes and was killed", path_, limits_.bytes)};
      }
    }
    return Done{};
  }

  // Waits for the exit until `until` or a stop request. Returns whether the program has exited.
  bool reap(SteadyClock::time_point until, const std::stop_token& stop = {}) {
    while (true) {
      const pid_t ended = ::wait4(pid_, &status_, WNOHANG, &usage_);
      if (ended != 0 && !(ended < 0 && errno == EINTR)) return true;
      auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now()).count();
      if (left <= 0 || stop.stop_requested()) return false;
      if (stop.stop_possible()) left = std::min<std::int64_t>(left, kStopCheckMs);
      if (!exit_) left = std::min<std::int64_t>(left, kExitCheckMs);
      pollfd exit{exit_.get(), POLLIN, 0};
      ::poll(&exit, 1, static_cast<int>(left));
    }
  }

  // Kills the process group and waits for the exit, but not forever: a program that hangs in the kernel does not exit.
  void kill() {
    ::kill(-pid_, SIGKILL);
    reap(SteadyClock::now() + kDyingTime);
  }

  std::string problem() const {
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return {};
    std::string text = format_wait_status(status_);
    std::string_view rest = complained_;
    const std::string_view line = trim(cut_line(rest)).substr(0, kShownOfErrors);
    if (!line.empty()) text += ": " + to_printable(line);
    return text;
  }

  std::int64_t cpu_us() const {
    const auto us = [](const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
    return us(usage_.ru_utime) + us(usage_.ru_stime);
  }

  const std::string path_;
  const pid_t pid_;
  const Fd exit_{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U))};  // readable after the exit
  Fd out_;
  Fd err_;
  const CommandLimits limits_;
  const SteadyClock::time_point deadline_ = SteadyClock::now() + limits_.time;
  std::string printed_;
  std::string complained_;
  int status_ = 0;
  rusage usage_{};
};

}  // namespace

Result<CommandOutput> run_command(const std::string& path, const std::vector<std::string>& arguments,
                                  const CommandLimits& limits) {
  Pipe out = TRY(make_pipe());
  Pipe err = TRY(make_pipe());
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_CTYPE=C.UTF-8", "TZ=UTC0"};
  environment.insert(environment.end(), limits.environment.begin(), limits.environment.end());
  const pid_t pid = TRY(spawn({.words = std::move(words),
                               .environment = std::move(environment),
                               .out = out.write.get(),
                               .err = err.write.get(),
                               .background = limits.background}));
  out.write.reset();
  err.write.reset();
  return Running(path, pid, std::move(out.read), std::move(err.read), limits).finish();
}

}  // namespace memoir
