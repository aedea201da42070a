#include "collect/vmmap/command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace memoir {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kKeptOfErrors = 1024;
constexpr std::size_t kShownOfErrors = 200;
// For a program that was killed to be gone.
constexpr std::chrono::milliseconds kDyingTime{1'000};
constexpr std::chrono::microseconds kLookAgain{500};

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error(errno, "make", "a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// What posix_spawn is told: nothing to read, two pipes to write to, a group of its own, no signal held back or ignored.
class SpawnPlan {
 public:
  SpawnPlan(int out, int err) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int ignored : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, ignored);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  Result<pid_t> start(const std::string& path, std::vector<std::string> words) const {
    std::vector<std::string> environment{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_CTYPE=C.UTF-8", "TZ=UTC0"};
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, path.c_str(), &actions_, &attributes_, pointers(words).data(),
                                    pointers(environment).data());
    if (error != 0) return errno_error(error, "run", path);
    return pid;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    all.reserve(words.size() + 1);
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// What can be read now, of which `most` bytes are kept in all. False: more came. At its end the descriptor is closed.
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

// A program that runs.
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
    if (!reap(deadline_)) {
      kill();
      return late();
    }
    return CommandOutput{pid_, std::move(printed_), problem(), cpu_us()};
  }

 private:
  Error late() const {
    return Error{ErrorKind::blocked,
                 fmt::format("{} did not end within {} ms and was killed", path_, limits_.time.count())};
  }

  Status read_to_end() {
    while (out_ || err_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - SteadyClock::now()).count();
      if (left <= 0) return late();
      // One that is closed is -1, which poll passes over.
      std::array<pollfd, 2> ends{pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
      if (::poll(ends.data(), ends.size(), static_cast<int>(left)) < 0 && errno != EINTR)
        return errno_error(errno, "wait for", path_);
      if (ends[1].revents != 0) read_some(err_, complained_, kKeptOfErrors);
      if (ends[0].revents != 0 && !read_some(out_, printed_, limits_.bytes)) {
        return Error{ErrorKind::io, fmt::format("{} printed more than {} bytes and was killed", path_, limits_.bytes)};
      }
    }
    return Done{};
  }

  // Whether it has ended by then.
  bool reap(SteadyClock::time_point until) {
    while (true) {
      const pid_t ended = ::wait4(pid_, &status_, WNOHANG, &usage_);
      if (ended != 0 && !(ended < 0 && errno == EINTR)) return true;
      if (SteadyClock::now() >= until) return false;
      std::this_thread::sleep_for(kLookAgain);
    }
  }

  // One that hangs in the kernel is left behind.
  void kill() {
    ::kill(-pid_, SIGKILL);
    reap(SteadyClock::now() + kDyingTime);
  }

  std::string problem() const {
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return {};
    std::string text = WIFSIGNALED(status_) ? fmt::format("signal {}", WTERMSIG(status_))
                                            : fmt::format("exit status {}", WEXITSTATUS(status_));
    std::string_view rest = complained_;
    const std::string_view line = trim(cut_line(rest)).substr(0, kShownOfErrors);
    if (!line.empty()) text += ": " + to_printable(to_utf8(line));
    return text;
  }

  std::int64_t cpu_us() const {
    const auto us = [](const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
    return us(usage_.ru_utime) + us(usage_.ru_stime);
  }

  const std::string path_;
  const pid_t pid_;
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
  const pid_t pid = TRY(SpawnPlan(out.write.get(), err.write.get()).start(path, std::move(words)));
  out.write.reset();
  err.write.reset();
  return Running(path, pid, std::move(out.read), std::move(err.read), limits).finish();
}

}  // namespace memoir
