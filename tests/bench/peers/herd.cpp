#include "herd.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace memoir::bench {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kShared = std::size_t{8} << 20;

char* map(std::size_t bytes, int flags) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  // A child must not run the destructors of its parent's objects.
  if (mapped == MAP_FAILED) {
    perror("mmap");
    _exit(1);
  }
  madvise(mapped, bytes, MADV_NOHUGEPAGE);
  return static_cast<char*>(mapped);
}

void touch(char* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kPage) static_cast<volatile char*>(at)[i] = 1;
}

enum class Family { idle, slow, busy, growing, sawtooth, shared, copied };

Family family_of(std::size_t member) {
  constexpr std::array<std::size_t, 6> ends{85, 90, 93, 95, 97, 99};
  const auto end = std::find_if(ends.begin(), ends.end(), [&](std::size_t of) { return member % 100 < of; });
  return static_cast<Family>(end - ends.begin());
}

// Allocates or frees the memory that the family changes per second.
class Life {
 public:
  Life(Family family, char* own, std::size_t own_bytes, char* shared)
      : family_(family), own_(own), own_bytes_(own_bytes), shared_(shared), room_(map(kRoom, MAP_PRIVATE)) {}

  void move(std::size_t second) {
    constexpr std::size_t kib = 1024;
    switch (family_) {
      case Family::idle:
        return;
      case Family::slow:
        return touch(room_ + second * kPage % kRoom, kPage);
      case Family::busy:
        if (second % 2 == 0) return touch(room_, 256 * kib);
        madvise(room_, 256 * kib, MADV_DONTNEED);
        return;
      case Family::growing:
        return touch(room_ + second * 64 * kib % kRoom, 64 * kib);
      case Family::sawtooth:
        if (second % 32 == 0) madvise(room_, kRoom, MADV_DONTNEED);
        return touch(room_ + second % 32 * 128 * kib, 128 * kib);
      case Family::shared:
        return touch(shared_ + second * kPage % kShared, kPage);
      case Family::copied:
        return touch(own_ + second * kPage % own_bytes_, kPage);
    }
  }

 private:
  static constexpr std::size_t kRoom = std::size_t{256} << 20;

  Family family_;
  char* own_;
  std::size_t own_bytes_;
  char* shared_;
  char* room_;
};

[[noreturn]] void live(std::size_t member, std::size_t private_bytes, char* shared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  char* const own = map(private_bytes, MAP_PRIVATE);
  touch(own, private_bytes);
  const Family family = family_of(member);
  if (family == Family::copied && fork() == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  Life life(family, own, private_bytes, shared);
  for (std::size_t second = 0;; ++second) {
    // Processes of the idle family never wake up.
    if (family == Family::idle) pause();
    sleep(1);
    life.move(second);
  }
}

double now_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

Herd::Herd(std::size_t processes, std::size_t private_kib) {
  char* const shared = map(kShared, MAP_SHARED);
  for (std::size_t member = 0; pids_.size() < processes; ++member) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("cannot fork");
    if (pid == 0) live(member, private_kib * 1024, shared);
    pids_.push_back(pid);
  }
  munmap(shared, kShared);
}

Herd::~Herd() {
  for (const pid_t pid : pids_) kill(pid, SIGKILL);
  for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
}

struct Victim::Shared {
  std::atomic<std::size_t> count;
  std::array<float, kMost> us;
};

Victim::Victim(std::size_t private_mib, std::size_t regions) {
  shared_ =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared_ == MAP_FAILED) throw std::runtime_error("no memory");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  touch(map(private_mib << 20U, MAP_PRIVATE), private_mib << 20U);
  // Neighbouring mappings with different permissions are not merged.
  char* const many = map((2 * regions + 1) * kPage, MAP_PRIVATE);
  for (std::size_t i = 0; i < regions; ++i) {
    touch(many + 2 * i * kPage, kPage);
    mprotect(many + (2 * i + 1) * kPage, kPage, PROT_NONE);
  }
  while (true) {
    const double before = now_us();
    void* const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, kPage);
    const double took = now_us() - before;
    const std::size_t at = shared_->count.load();
    if (at < kMost) {
      shared_->us[at] = static_cast<float>(took);
      shared_->count.store(at + 1);
    }
    const timespec pause{0, 200'000};
    nanosleep(&pause, nullptr);
  }
}

Victim::~Victim() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  munmap(shared_, sizeof(Shared));
}

Victim::Latency Victim::take() {
  const std::size_t count = shared_->count.load();
  std::vector<float> all(shared_->us.begin(), shared_->us.begin() + static_cast<std::ptrdiff_t>(count));
  shared_->count.store(0);
  if (all.empty()) return {};
  std::ranges::sort(all);
  return {static_cast<double>(all[(all.size() - 1) * 999 / 1000]), static_cast<double>(all.back())};
}

}  // namespace memoir::bench
