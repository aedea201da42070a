// Processes that run themselves again and again, each time with arguments that nobody had before.
//
//   flooder N  until its standard input is closed
//   flooder - WORD  one of the N: it waits a moment and runs itself

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr std::size_t kArgument = 4000;

std::string random_word() {
  std::array<unsigned char, kArgument> bytes{};
  const int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (source < 0 || read(source, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::exit(1);
  close(source);
  std::string word;
  for (const unsigned char byte : bytes) word += static_cast<char>('a' + byte % 26);
  return word;
}

[[noreturn]] void run_again() {
  usleep(200'000);
  std::string word = random_word();
  char name[] = "flooder";
  char again[] = "-";
  std::array<char*, 4> arguments{name, again, word.data(), nullptr};
  execv("/proc/self/exe", arguments.data());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) run_again();
  const int count = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int i = 0; i < count; ++i) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_again();
  }
  std::puts("ok");
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  return 0;
}
