#pragma once

// Starts a program without a shell. It gets only the given descriptors (before glibc 2.34 also those without
// O_CLOEXEC); no signal is blocked or ignored. Right after its start our privileges are removed, where permitted: the
// OOM killer does not spare it, its nice is not below 0, and it may open 1024 files. Returns when the program is
// loaded, which depends on the disk.

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
  int in = -1;                           // -1: /dev/null, likewise
  int out = -1;
  int err = -1;
  pid_t group = 0;          // process group to join; 0: its own
  bool background = false;  // nice 19, batch scheduling
};

// Returns its pid. An error names the program.
Result<pid_t> spawn(Spawn what);

// "exit status 1", "signal 9"
std::string format_wait_status(int wait_status);

}  // namespace memoir
