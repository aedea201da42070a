#pragma once

#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace memoir::test {

// A process that has a read lock on a byte of a file for which it only has read permission.
class ReadLock {
 public:
  ReadLock(const std::string& path, off_t at) {
    int ready[2];
    if (pipe(ready) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      const int fd = open(path.c_str(), O_RDONLY);
      struct flock lock {};
      lock.l_type = F_RDLCK;
      lock.l_start = at;
      lock.l_len = 1;
      const char answer = fcntl(fd, F_SETLKW, &lock) == 0 ? 'y' : 'n';
      static_cast<void>(!write(ready[1], &answer, 1));
      for (;;) pause();
    }
    char answer = 0;
    const bool got = read(ready[0], &answer, 1) == 1 && answer == 'y';
    close(ready[0]);
    close(ready[1]);
    if (!got) throw std::runtime_error("no lock on " + path);
  }
  ~ReadLock() { release(); }
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

  pid_t pid() const { return pid_; }
  void release() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace memoir::test
