#pragma once

// Reads signals by signalfd(2), without signal handlers. The kernel keeps one pending signal of each number, so that a
// flood of one number displaces no other. A handler that writes into a pipe would lose signals when the pipe is full.
// Call all functions on the loop's thread.

#include <csignal>
#include <functional>
#include <initializer_list>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/result.h"

namespace memoir {

// Makes these signals end the program at once, with status 0, from here on: for a long start with nothing to finish.
// Ignored signals stay ignored.
void exit_on(std::initializer_list<int> signals);

class Signals {
 public:
  explicit Signals(asio::io_context& loop) : descriptor_(loop) {}

  // Blocks the signals from here on, in this thread and in threads that it starts later. Call it before starting
  // threads. spawn() unblocks them in the programs that it starts.
  Status hold(std::initializer_list<int> signals);

  // Calls `handle` with the number of each signal, permanently.
  void await(std::function<void(int)> handle);

 private:
  void await_next();

  std::function<void(int)> handle_;
  asio::posix::stream_descriptor descriptor_;
};

}  // namespace memoir
