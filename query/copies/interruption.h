#pragma once

namespace memoir::query {

// While it lives, Ctrl-C, a hangup and TERM are noted instead of ending the program, so that it can put away what it
// has begun. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Whether one of them came.
  static bool came();
};

}  // namespace memoir::query
