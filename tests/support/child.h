#pragma once

// Programs that a test starts, with their output. Each is killed with its test, and waited for at most a minute.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/file.h"

namespace memoir::test {

// Returns once `condition` is true; fails the test after a minute. `what` is for the message.
void wait_until(std::string_view what, const std::function<bool()>& condition);

struct Program {
  std::string path;
  std::vector<std::string> arguments;      // arguments without the program's name
  std::vector<std::string> environment{};  // NAME=value, added to the test's environment
  std::optional<uid_t> as_user{};          // needs root
};

// A running program. Its standard input is a pipe, and its outputs are kept.
class Child {
 public:
  explicit Child(const Program& program);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int number) const;
  // Returns the exit status, or 128 + N after signal N.
  int wait();
  int kill_and_wait();

  void send(std::string_view line);  // a newline is added
  std::string output() const;
  std::string errors() const;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  Fd input_;
  Fd output_;
  Fd errors_;
};

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

// Runs a program and waits for its exit.
Outcome run(const Program& program);

// An ordinary user without files; nullopt if the test cannot change the user.
std::optional<uid_t> other_user();

}  // namespace memoir::test
