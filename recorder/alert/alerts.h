#pragma once

// Runs the configured command when an alert is due: one command at a time, while a few alerts wait. The command starts
// when the tick that caused the alert is stored, so that memoir can read that tick. `memoir leaks` checks for leaks
// periodically. Both run on separate threads, so that no tick waits for them. Call all functions on the loop's thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "base/warn_once.h"
#include "config/config.h"
#include "recorder/alert/forecast.h"
#include "recorder/alert/job.h"
#include "recorder/alert/pipeline.h"
#include "recorder/alert/rules.h"

namespace memoir {

class Alerts {
 public:
  // `notify` takes the kind and the text of an event.
  using Notify = std::function<void(const char*, std::string)>;

  Alerts(asio::io_context& loop, const Clock& clock, Notify notify);

  // Sets the configuration; called again after a reload. `config_path` is empty if the file does not exist.
  void set(const Config& config, std::string config_path);
  // Returns why alerts cannot run or are incomplete, as a sentence; empty if neither.
  std::string lack() const;

  void see(const Tick& tick);
  // Call it when all ticks up to `tick_ms` (boot clock) are stored or lost.
  void stored(std::int64_t tick_ms);
  // Stops permanently, and terminates running commands.
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
  const Notify notify_;
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
  WarnOnce cannot_check_;
};

}  // namespace memoir
