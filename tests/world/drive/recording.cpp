#include "world/drive/recording.h"

#include <ctime>
#include <stdexcept>

namespace memoir::world {
namespace {

constexpr std::int64_t kKeyframeMs = 3'600'000;

void require(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

template <typename T>
T require(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

}  // namespace

void Recording::run(const std::vector<std::string>& steps) {
  options_.max_descriptors = 1000;
  options_.cgroup_root = cgroups_.path();
  options_.container_names = false;
  for (const std::string& line : steps) apply(Step(line));
  if (!writer_) return;
  apply(Step("stop"));
}

void Recording::apply(const Step& step) {
  const std::string& verb = step.verb();
  if (verb == "profile") {
    interval_ms_ = step.number(0);
    options_.read_share_ppm = step.number(1);
    options_.min_exit_peak_kib = step.number(2);
  } else if (verb == "record") {
    if (!writer_) record();
  } else if (!writer_ || (verb != "tick" && verb != "scan" && verb != "stop" && verb != "crash")) {
    machine_.apply(step);
  } else if (verb == "tick") {
    tick();
  } else if (verb == "scan") {
    source_->scan();
  } else {
    if (verb == "stop") tick();
    end(verb == "stop");
  }
}

void Recording::record() {
  const Moment now = machine_.clock().now();
  const BootInfo boot{test::FakeProc::kBootId, machine_.truth().boot_ms, "world", "6.18"};
  machine_.listen();
  source_ = make_proc_source(machine_.proc(), machine_.clock(), require(Categoriser::make(default_category_rules())),
                             require(Redactor::make({})), options_, machine_.census(), machine_.events());
  writer_ = require(Writer::open(path_, Durability::normal));
  source_->seed(require(writer_->known_processes(boot.boot_id)));
  require(writer_->begin_run({boot, 4242, "0", interval_ms_, now, {}, "bpf"}));
  keyframe_hour_.reset();
}

void Recording::tick() {
  // Ticks must have different times even if waits were dropped from the schedule.
  const std::vector<TickTruth>& before = machine_.truth().ticks;
  if (!before.empty() && before.back().wall_ms == machine_.clock().now().wall_ms) machine_.apply(Step("wait 1000"));
  machine_.render();
  const std::int64_t hour = machine_.clock().now().boot_ms / kKeyframeMs;
  TickTruth truth = machine_.observe();
  const Result<Tick> tick = source_->collect(keyframe_hour_ != hour);
  on_tick_(tick, truth);
  if (tick) {
    require(writer_->write(*tick));
    keyframe_hour_ = hour;
    machine_.record_tick(std::move(truth));
  }
  machine_.end_odd_line();
  while (require(writer_->maintain()).more) {
  }
}

void Recording::end(bool in_order) {
  if (in_order) require(writer_->end_run(machine_.clock().now(), "stopped"));
  writer_.reset();
  source_.reset();
  machine_.stop_listening();
}

}  // namespace memoir::world

// The linker replaces the product's reads of the CPU clock and of the steady clock by these (--wrap), so that costs are
// the same in each run. Each read advances the reading thread's clock by 7 µs.
extern "C" {
int real_clock_gettime(clockid_t clock, timespec* time) __asm__("__real_clock_gettime");
int wrap_clock_gettime(clockid_t clock, timespec* time) __asm__("__wrap_clock_gettime");
int wrap_clock_gettime(clockid_t clock, timespec* time) {
  if (clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_MONOTONIC) return real_clock_gettime(clock, time);
  thread_local std::int64_t us = 0;
  us += 7;
  *time = {us / 1'000'000, us % 1'000'000 * 1'000};
  return 0;
}
}
