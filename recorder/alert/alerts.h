#pragma once

// Alerts: runs what the configuration says when one is due. One at a time; a few wait. It begins when the tick that
// tells of it is stored, so that memoir can answer. Leaks are looked for now and then, by `memoir leaks`. All of this
// runs on threads of its own: no tick waits for it. Thread: that of the loop.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "base/clock.h"
#include "base/complaint.h"
#include "base/result.h"
#include "config/config.h"
#include "recorder/alert/forecast.h"
#include "recorder/alert/job.h"
#include "recorder/alert/pipeline.h"
#include "recorder/alert/rules.h"

namespace memoir {

class Alerts {
 public:
  // `tell` takes the kind and the text of an event.
  using Tell = std::function<void(const char*, std::string)>;

  Alerts(asio::io_context& loop, const Clock& clock, Tell tell);

  // `config_path`: of a file that is there, else empty. From now on, and again after a reload.
  void set(const Config& config, std::string config_path);
  // Why alerts will not do what they are for: a sentence, or nothing.
  std::string lack() const;

  void see(const Tick& tick);
  // All ticks up to then (boot clock) are stored, or lost.
  void stored(std::int64_t tick_ms);
  // For good: what runs is ended.
  void stop();

 private:
  using Forecasts = std::vector<Forecast>;

  bool on() const { return !stopped_ && !config_.alert_exec.empty(); }
  void add(Alert alert);
  void run_next();
  void ended(const Alert& alert, const Result<AlertEnd>& end);
  std::vector<std::string> words(std::vector<std::string> command) const;

  void await_check(std::chrono::milliseconds after);
  void check();
  void checked(const Result<Forecasts>& forecasts);

  asio::io_context& loop_;
  const Clock& clock_;
  const Tell tell_;
  Config config_;
  std::string config_path_;
  bool stopped_ = false;
  Moment last_tick_;
  std::int64_t stored_ms_ = 0;
  AlertRules rules_;
  std::deque<Alert> waiting_;
  std::optional<Alert> running_;
  Job<AlertEnd> run_;
  asio::steady_timer check_timer_;
  Job<Forecasts> check_;
  Complaint cannot_check_;
};

}  // namespace memoir
