#pragma once

// Alerts: runs the configured command when one is due. One at a time; a few wait. It starts when the tick with its
// reason is stored, so that memoir can read it. Leaks are checked periodically, by `memoir leaks`. All of this runs on
// separate threads: no tick waits for it. Thread: that of the loop.

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

  // `config_path`: an existing file, otherwise empty. Applies from now on; called again after a reload.
  void set(const Config& config, std::string config_path);
  // Why alerts will not work: a sentence; empty if they will.
  std::string lack() const;

  void see(const Tick& tick);
  // All ticks up to that time (boot clock) are stored, or lost.
  void stored(std::int64_t tick_ms);
  // Stops permanently, and ends running commands.
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
