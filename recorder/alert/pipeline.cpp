#include "recorder/alert/pipeline.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <sys/types.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/capability.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"

namespace memoir {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kPollEvery{10};
// Time from SIGTERM to SIGKILL. After the same time again, a process that hangs in the kernel is left running.
constexpr std::chrono::milliseconds kGrace{1'000};
// Wait status of a process that was already reaped elsewhere: exit status 255.
constexpr int kUnknownExit = 0xff00;

// Returns whether systemd set the variable for memoird itself, not for its children.
bool is_for_us_alone(std::string_view variable) {
  return variable.starts_with("NOTIFY_SOCKET=") || variable.starts_with("WATCHDOG_");
}

std::vector<std::string> environment_of(const AlertRun& run) {
  std::vector<std::string> all = run.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_for_us_alone(*variable)) all.emplace_back(*variable);
  }
  return all;
}

std::string seconds_since(SteadyTime started) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
}

// The alert program, which leads the process group, and memoir, which is in the same group.
class Group {
 public:
  explicit Group(pid_t leader) : leader_(leader) {}
  ~Group() { end(SIGKILL, kGrace); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  void add_memoir(pid_t pid) { memoir_ = pid; }

  // Waits until both have exited and returns the leader's status. Returns nullopt at `until` or on a stop request.
  std::optional<int> wait(SteadyTime until, const std::stop_token& stop) {
    while (!ended()) {
      if (std::chrono::steady_clock::now() >= until || stop.stop_requested()) return std::nullopt;
      std::this_thread::sleep_for(kPollEvery);
    }
    return leader_status_;
  }

  bool end(int signal, std::chrono::milliseconds grace) {
    if (ended()) return true;
    ::kill(-leader_, signal);
    return wait(std::chrono::steady_clock::now() + grace, {}).has_value();
  }

  // Returns nullopt if memoir has not exited or was not started.
  std::optional<int> memoir_status() const { return memoir_status_; }

 private:
  // The leader is reaped last, because its pid identifies the group until then.
  bool ended() {
    if (leader_status_) return true;
    if (memoir_ > 0 && !memoir_status_) memoir_status_ = status_of(memoir_);
    if (memoir_ > 0 && !memoir_status_) return false;
    siginfo_t info{};
    const int waited = ::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (waited == 0 ? info.si_pid == 0 : errno != ECHILD) return false;
    // Kills what remains of the group before the leader is reaped. Afterwards the group's number may be reused.
    if (waited == 0) ::kill(-leader_, SIGKILL);
    leader_status_ = status_of(leader_);
    return leader_status_.has_value();
  }
  static std::optional<int> status_of(pid_t pid) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended < 0 && errno == ECHILD) return kUnknownExit;
    return ended == pid ? std::optional(status) : std::nullopt;
  }

  const pid_t leader_;
  pid_t memoir_ = 0;
  std::optional<int> leader_status_;
  std::optional<int> memoir_status_;
};

// Starts memoir with its output connected to the program's input. Returns the problem; empty on success.
std::string start_memoir(const AlertRun& run, Pipe pipe, pid_t group, Group& running) {
  const auto program = find_memoir();
  if (!program) return "memoir was not found";
  std::vector<std::string> words{*program};
  words.insert(words.end(), run.memoir.begin(), run.memoir.end());
  const auto pid = spawn({.words = std::move(words),
                          .environment = environment_of(run),
                          .out = pipe.write.get(),
                          .err = STDERR_FILENO,
                          .group = group});
  if (!pid) return pid.error().message;
  running.add_memoir(*pid);
  return "";
}

AlertEnd could_not(const Error& error) {
  return {.well = false, .text = "The alert command could not be run: " + error.message};
}

}  // namespace

AlertEnd run_alert(const AlertRun& run, const std::stop_token& stop) {
  clear_inheritable_caps();
  const SteadyTime started = std::chrono::steady_clock::now();
  auto pipe = make_pipe();
  if (!pipe) return could_not(pipe.error());
  const auto leader =
      spawn({.words = run.exec, .environment = environment_of(run), .in = pipe->read.get(), .err = STDERR_FILENO});
  if (!leader) return could_not(leader.error());
  Group group(*leader);
  std::string lack = start_memoir(run, *std::move(pipe), *leader, group);
  const std::string name = to_printable(run.exec.front());
  const std::optional<int> status = group.wait(started + run.timeout, stop);
  if (!status) {
    const bool stopped = stop.stop_requested();
    const bool gone = group.end(SIGTERM, kGrace) || group.end(SIGKILL, kGrace);
    return {.well = false,
            .text = fmt::format("{} {}: {} after {}", name,
                                stopped ? "was running when the recorder stopped" : "took too long",
                                gone ? "killed" : "still running", seconds_since(started))};
  }
  const int answer = group.memoir_status().value_or(0);
  const bool unread = WIFSIGNALED(answer) && WTERMSIG(answer) == SIGPIPE;
  if (answer != 0 && !unread) lack = "memoir incident: " + format_wait_status(answer);
  return {.well = *status == 0 && lack.empty(),
          .text = fmt::format("{}: {} after {}{}{}", name, format_wait_status(*status), seconds_since(started),
                              lack.empty() ? "" : "; ", lack)};
}

std::optional<std::string> find_memoir() {
  std::vector<std::string> places;
  if (const auto ours = read_link("/proc/self/exe")) {
    const std::string folder = ours->substr(0, ours->rfind('/'));
    places = {folder, folder + "/../bin"};
  }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) places.emplace_back(cut(rest, ':'));
  for (const std::string& place : places) {
    std::string program = place + "/memoir";
    if (place.starts_with('/') && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

}  // namespace memoir
