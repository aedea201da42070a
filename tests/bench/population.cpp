#include "population.h"

#include <array>
#include <signal.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace memoir::bench {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStirred = 64 * 1024;

void touch(char* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kPage) static_cast<volatile char*>(at)[i] = 1;
}

[[noreturn]] void live(int socket, std::size_t private_kib) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::size_t bytes = private_kib * 1024;
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) _exit(1);
  madvise(mapped, bytes, MADV_NOHUGEPAGE);
  auto* const memory = static_cast<char*>(mapped);
  touch(memory, bytes);
  bool full = true;
  char word = 0;
  do {
    if (write(socket, &word, 1) != 1 || read(socket, &word, 1) != 1) _exit(0);
    if (full)
      madvise(memory, kStirred, MADV_DONTNEED);
    else
      touch(memory, kStirred);
    full = !full;
  } while (true);
}

void await(int socket) {
  char word = 0;
  if (read(socket, &word, 1) != 1) throw std::runtime_error("a process of the population died");
}

}  // namespace

Population::Population(std::size_t processes, std::size_t private_kib) {
  for (std::size_t i = 0; i < processes; ++i) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) throw std::runtime_error("no sockets");
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("cannot fork");
    if (pid == 0) {
      close(ends[0]);
      for (const Member& member : members_) close(member.socket);
      live(ends[1], private_kib);
    }
    close(ends[1]);
    members_.push_back({pid, ends[0]});
  }
  for (const Member& member : members_) await(member.socket);
}

Population::~Population() {
  for (const Member& member : members_) {
    kill(member.pid, SIGKILL);
    waitpid(member.pid, nullptr, 0);
    close(member.socket);
  }
}

void Population::stir(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Member& member = members_[next_++ % members_.size()];
    const char word = 0;
    if (write(member.socket, &word, 1) != 1) throw std::runtime_error("a process of the population died");
    await(member.socket);
  }
}

}  // namespace memoir::bench
