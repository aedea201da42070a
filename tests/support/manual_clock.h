#pragma once

#include "base/clock.h"

namespace memoir::test {

// A clock that the test sets.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Moment start) : now_(start) {}
  Moment now() const override { return now_; }
  void advance(std::int64_t ms) {
    now_.wall_ms += ms;
    now_.boot_ms += ms;
  }
  void step_wall(std::int64_t ms) { now_.wall_ms += ms; }

 private:
  Moment now_;
};

}  // namespace memoir::test
