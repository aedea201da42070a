#pragma once

// Runs a schedule: the real collector and writer record the machine to a file. Wall clock and CPU time have no
// influence, so that the same steps give the same file.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collect/collector.h"
#include "store/writer.h"
#include "support/temporary_directory.h"
#include "world/drive/machine.h"

namespace memoir::world {

class Recording {
 public:
  using OnTick = std::function<void(const Result<Tick>&, const TickTruth&)>;

  Recording(std::string path, OnTick on_tick) : path_(std::move(path)), on_tick_(std::move(on_tick)) {}

  void run(const std::vector<std::string>& steps);
  const Machine& machine() const { return machine_; }

 private:
  void apply(const Step& step);
  void record();
  void tick();
  void end(bool in_order);

  const std::string path_;
  const OnTick on_tick_;
  Machine machine_;
  test::TemporaryDirectory cgroups_;
  CollectorOptions options_;
  std::int64_t interval_ms_ = 10'000;
  std::unique_ptr<TickSource> source_;
  std::unique_ptr<Writer> writer_;
  std::optional<std::int64_t> keyframe_hour_;  // hour of the last keyframe of this run
};

}  // namespace memoir::world
