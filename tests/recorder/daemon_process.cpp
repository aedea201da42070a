#include "daemon_process.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace memoir::test {
namespace {

[[noreturn]] void become_memoird(const std::vector<std::string>& arguments,
                                 const std::map<std::string, std::string>& environment, const std::string& output,
                                 const std::string& log_path, int log) {
  const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int err = log >= 0 ? log : open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  unsetenv("JOURNAL_STREAM");
  unsetenv("NOTIFY_SOCKET");
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv{const_cast<char*>("memoird")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(MEMOIRD, argv.data());
  _exit(127);
}

}  // namespace

DaemonProcess::DaemonProcess(const std::string& directory, const std::vector<std::string>& arguments,
                             const std::map<std::string, std::string>& environment, int log) {
  static std::atomic<int> number{0};
  const std::string base = directory + "/memoird-" + std::to_string(++number);
  output_path_ = base + ".out";
  log_path_ = base + ".log";
  pid_ = fork();
  if (pid_ == 0) become_memoird(arguments, environment, output_path_, log_path_, log);
  if (pid_ < 0) throw std::runtime_error("cannot fork");
}

DaemonProcess::~DaemonProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void DaemonProcess::signal(int number) const {
  kill(pid_, number);
}

int DaemonProcess::wait() {
  int status = 0;
  wait_until("the exit of memoird", [&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string DaemonProcess::output() const {
  return read_text(output_path_);
}

std::string DaemonProcess::log() const {
  return read_text(log_path_);
}

void DaemonProcess::wait_for_log(const std::string& text) const {
  wait_until("the log line '" + text + "'", [&] { return log().find(text) != std::string::npos; });
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace memoir::test
