#include "floor.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace memoir::bench {

namespace {

constexpr std::array<const char*, 3> kMachineFiles{"/proc/meminfo", "/proc/vmstat", "/proc/pressure/memory"};

// The format of getdents64(2); glibc's dirent64 is the same.
using Entry = dirent64;

// Kernel threads have no command line.
bool is_kernel_thread(int pid) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/cmdline", pid);
  const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  char first = 0;
  const ssize_t got = ::read(fd, &first, 1);
  close(fd);
  return got == 0;
}

}  // namespace

Floor::Floor(bool keep) : keep_(keep), proc_(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

Floor::~Floor() {
  close(proc_);
  for (const int fd : machine_) close(fd);
  for (const auto& [pid, process] : processes_)
    for (const int fd : {process.statm, process.status, process.rollup}) close(fd);
}

void Floor::read(int& kept, const char* path) {
  if (kept < 0) kept = open(path, O_RDONLY | O_CLOEXEC);
  off_t offset = 0;
  for (;;) {
    const ssize_t got = pread(kept, buffer_.data(), buffer_.size(), offset);
    if (got <= 0) break;
    offset += got;
  }
  if (keep_) return;
  close(kept);
  kept = -1;
}

void Floor::read_process(int pid) {
  auto [entry, fresh] = processes_.try_emplace(pid);
  Process& process = entry->second;
  if (fresh) process.kernel_thread = is_kernel_thread(pid);
  std::array<char, 64> path{};
  const auto read_file = [&](int& fd, const char* name) {
    if (fd < 0) std::snprintf(path.data(), path.size(), "/proc/%d/%s", pid, name);
    read(fd, path.data());
  };
  if (process.kernel_thread) {
    read_file(process.statm, "statm");
    return;
  }
  read_file(process.status, "status");
  read_file(process.rollup, "smaps_rollup");
}

std::size_t Floor::pass() {
  std::size_t count = 0;
  lseek(proc_, 0, SEEK_SET);
  for (;;) {
    const long got = syscall(SYS_getdents64, proc_, entries_.data(), entries_.size());
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries_.data() + at);
      at += entry->d_reclen;
      if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
      read_process(static_cast<int>(std::strtol(entry->d_name, nullptr, 10)));
      ++count;
    }
  }
  for (std::size_t i = 0; i < machine_.size(); ++i) read(machine_[i], kMachineFiles[i]);
  return count;
}

}  // namespace memoir::bench
