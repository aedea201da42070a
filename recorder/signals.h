#pragma once

// Signals to read rather than to be interrupted by: signalfd(2). Of each the kernel keeps one that waits, so that none
// gets lost in a storm of others, as it does where a handler writes into a pipe that is full. Thread: that of the loop.

#include <csignal>
#include <functional>
#include <initializer_list>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/result.h"

namespace memoir {

class Signals {
 public:
  explicit Signals(asio::io_context& loop) : descriptor_(loop) {}

  // From here on they wait, and do not what they do by default: in this thread and in those that it begins later. To be
  // called before others begin. Programs that Spawn starts have their signals as usual.
  Status hold(std::initializer_list<int> signals);

  // Calls `handle` with the number of each, for good.
  void await(std::function<void(int)> handle);

 private:
  void await_next();

  std::function<void(int)> handle_;
  asio::posix::stream_descriptor descriptor_;
};

}  // namespace memoir
