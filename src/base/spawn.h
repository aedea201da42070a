#pragma once

// Starts a program without a shell. Of our descriptors it has those that it is given (before glibc 2.34 also those
// without O_CLOEXEC); no signal is held back or ignored. From just after its start it has nothing of what lifts us
// above others, where that may be set: the OOM killer does not spare it, its nice is not below 0, and it may have 1024
// files. Returns when the program is loaded, which takes as long as its disk does.

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
  std::vector<std::string> environment;  // NAME=value; all that it has
  int in = -1;                           // -1: /dev/null, likewise
  int out = -1;
  int err = -1;
  pid_t group = 0;          // of processes, that it joins; 0: one of its own
  bool background = false;  // nice 19, as a batch
};

// Its pid. An error names the program.
Result<pid_t> spawn(Spawn what);

// "exit status 1", "signal 9"
std::string print_end(int wait_status);

}  // namespace memoir
