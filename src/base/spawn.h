#pragma once

// Starts a program without a shell. The program gets only the given descriptors (before glibc 2.34 also those without
// O_CLOEXEC), and no signal is blocked or ignored. Right after its start it loses privileges of the recorder, where
// permitted: a negative oom_score_adj becomes 0, and so does a negative nice value; it may open 1024 files. spawn()
// returns when the program is loaded, which may wait for the disk.

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

struct Pipe {
  Fd read;
  Fd write;
};
Result<Pipe> make_pipe();

struct Spawn {
  std::vector<std::string> words;        // the program's path, and its arguments
  std::vector<std::string> environment;  // NAME=value; the complete environment
  int in = -1;                           // -1: /dev/null; the same for out and err
  int out = -1;
  int err = -1;
  pid_t group = 0;          // process group to join; 0: a new one
  bool background = false;  // nice 19, batch scheduling
};

// Returns the pid. An error names the program.
Result<pid_t> spawn(Spawn what);

// Returns "exit status 1" or "signal 9".
std::string format_wait_status(int wait_status);

}  // namespace memoir
