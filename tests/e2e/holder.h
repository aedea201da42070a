#pragma once

// Controls tests/e2e/holder.cpp: a process with known memory.

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/child.h"

namespace memoir::test {

class Holder {
 public:
  // Runs a copy of the program in `folder`, so that no other holder shares its pages.
  Holder(const std::string& folder, const std::vector<std::string>& arguments = {}, std::optional<uid_t> as_user = {})
      : child_({.path = copy(folder), .arguments = arguments, .as_user = as_user}) {
    answer();
  }

  pid_t pid() const { return child_.pid(); }

  // Sends a command of holder.cpp, waits until it is done, and returns the pid that it answers with, if any.
  pid_t run(const std::string& command) {
    const std::string text = ask(command);
    return text.starts_with("ok ") ? std::stoi(text.substr(3)) : 0;
  }

  // The same, but returns the line that it answers with.
  std::string ask(const std::string& command) {
    child_.send(command);
    return answer();
  }

  void end() { child_.kill_and_wait(); }

 private:
  static std::string copy(const std::string& folder) {
    const std::string path = folder + "/holder";
    std::filesystem::copy_file(MEMOIR_HOLDER, path, std::filesystem::copy_options::skip_existing);
    return path;
  }

  std::string answer() {
    std::string text;
    wait_until("the holder's answer", [&] {
      if (!child_.running()) throw std::runtime_error("the holder has exited: " + child_.errors());
      text = child_.output().substr(read_);
      return text.ends_with('\n');
    });
    read_ += text.size();
    return text;
  }

  Child child_;
  std::size_t read_ = 0;
};

}  // namespace memoir::test
