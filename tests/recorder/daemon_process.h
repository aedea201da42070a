#pragma once

// The real memoird as a child of the test.

#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace memoir::test {

class DaemonProcess {
 public:
  // Output goes to files in `directory`, the log to `log` if that is not empty. `environment` is added to the test's
  // environment.
  DaemonProcess(const std::string& directory, const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& environment = {}, int log = -1);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  // Returns the exit status, or minus the signal's number if a signal killed it.
  int wait();

  std::string output() const;  // stdout so far
  std::string log() const;     // stderr so far
  void wait_for_log(const std::string& text) const;

 private:
  std::string output_path_;
  std::string log_path_;
  pid_t pid_ = -1;
};

// Repeats until `condition` is true; fails the test after a long time, with `what` in the message.
template <typename Condition>
void wait_until(const std::string& what, Condition condition);

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace memoir::test

#include <chrono>
#include <stdexcept>
#include <thread>

template <typename Condition>
void memoir::test::wait_until(const std::string& what, Condition condition) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("timeout while waiting for " + what);
    std::this_thread::sleep_for(5ms);
  }
}
