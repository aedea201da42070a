#pragma once

// Signals to be read instead of interrupting: signalfd(2). The kernel keeps one waiting signal of each number, so that
// a flood of others displaces none; a handler that writes into a full pipe would lose it. Thread: that of the loop.

#include <csignal>
#include <functional>
#include <initializer_list>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/result.h"

namespace memoir {

// From here on these signals end the program at once, with status 0: for a start that takes long and has nothing to
// finish. Ignored ones stay ignored.
void exit_on(std::initializer_list<int> signals);

class Signals {
 public:
  explicit Signals(asio::io_context& loop) : descriptor_(loop) {}

  // Blocks the signals from here on, in this thread and in those that it starts later. Call it before starting threads.
  // Programs started by Spawn have their signals as usual.
  Status hold(std::initializer_list<int> signals);

  // Calls `handle` with the number of each, permanently.
  void await(std::function<void(int)> handle);

 private:
  void await_next();

  std::function<void(int)> handle_;
  asio::posix::stream_descriptor descriptor_;
};

}  // namespace memoir
