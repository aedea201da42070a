#pragma once

// Process events that a test supplies.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "census/events.h"

namespace memoir::test {

class FakeEvents final : public ProcessEvents {
 public:
  // The next events, which a test shares and sets.
  struct Script {
    std::vector<ProcessEvent> events;
    std::uint64_t lost = 0;
    bool fails = false;
    std::string no_signals;
  };

  explicit FakeEvents(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Result<std::uint64_t> take(std::vector<ProcessEvent>& events) override {
    if (script_->fails) return Error{ErrorKind::io, "the ring is gone"};
    events = std::exchange(script_->events, {});
    return std::exchange(script_->lost, 0);
  }

  std::string no_signals() const override { return script_->no_signals; }

 private:
  const std::shared_ptr<Script> script_;
};

}  // namespace memoir::test
