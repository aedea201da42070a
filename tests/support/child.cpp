#include "support/child.h"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace memoir::test {

namespace {

constexpr auto kPatience = std::chrono::seconds(60);
constexpr uid_t kNobody = 65534;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (auto& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::string contents(const Fd& fd) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = pread(fd.get(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

[[noreturn]] void become(int program, const Program& what, std::vector<char*>& arguments,
                         std::vector<char*>& environment) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (what.as_user) {
    if (setgroups(0, nullptr) != 0 || setgid(*what.as_user) != 0 || setuid(*what.as_user) != 0) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the change of user clears it
  }
  // Executes the descriptor, because the user may lack access to the build's folder.
  fexecve(program, arguments.data(), environment.data());
  _exit(127);
}

}  // namespace

void wait_until(std::string_view what, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("in vain: " + std::string(what));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Child::Child(const Program& program)
    : output_(memfd_create("out", MFD_CLOEXEC)), errors_(memfd_create("err", MFD_CLOEXEC)) {
  std::array<int, 2> input{};
  if (pipe2(input.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const Fd read_end(input[0]);
  input_ = Fd(input[1]);
  const Fd file(::open(program.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || !output_ || !errors_) throw std::runtime_error("cannot start " + program.path);

  std::vector<std::string> words{program.path.substr(program.path.rfind('/') + 1)};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  std::vector<std::string> variables = program.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  std::vector<char*> arguments = pointers(words);
  std::vector<char*> environment = pointers(variables);

  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    dup2(read_end.get(), STDIN_FILENO);
    dup2(output_.get(), STDOUT_FILENO);
    dup2(errors_.get(), STDERR_FILENO);
    become(file.get(), program, arguments, environment);
  }
}

Child::~Child() {
  if (!status_) {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

bool Child::running() {
  if (status_) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

void Child::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

int Child::wait() {
  wait_until("the program's end", [this] { return !running(); });
  return *status_;
}

int Child::kill_and_wait() {
  signal(SIGKILL);
  return wait();
}

void Child::send(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  if (write(input_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the program does not listen");
}

std::string Child::output() const {
  return contents(output_);
}

std::string Child::errors() const {
  return contents(errors_);
}

Outcome run(const Program& program) {
  Child child(program);
  const int status = child.wait();
  return {status, child.output(), child.errors()};
}

std::optional<uid_t> other_user() {
  return geteuid() == 0 ? std::optional(kNobody) : std::nullopt;
}

}  // namespace memoir::test
