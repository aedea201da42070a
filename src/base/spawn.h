#pragma once

// Starts a program without a shell. Of our descriptors it has those that it is given (before glibc 2.34 also those
// without O_CLOEXEC); no signal is held back or ignored, and from just after its start the OOM killer does not spare
// it because it spares us.
// Returns when the program is loaded, which takes as long as its disk does.

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
  pid_t group = 0;    // of processes, that it joins; 0: one of its own
  bool idle = false;  // it runs when nobody else wants to, where that may be set; just after its start
};

// Its pid. An error names the program.
Result<pid_t> spawn(Spawn what);

// "exit status 1", "signal 9"
std::string print_end(int wait_status);

}  // namespace memoir
