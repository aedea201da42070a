#pragma once

// Which alerts are due: what a tick or a forecast tells, against what the configuration asks for. Of each reason there
// is one alert in a while at most, of a leak one in its own while; what comes between has none, but for a leak that
// waits for its turn. Pure: whiles are of the boot clock of what is told.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tick.h"
#include "recorder/alert/forecast.h"

namespace memoir {

enum class AlertReason : std::uint8_t { oom_kill, pressure, leak, count_ };

// "oom-kill"
std::string_view to_string(AlertReason reason);

// "The OOM killer ended java (812) of /app.service, which held 4800 MiB"
std::string oom_kill_text(const OomVictim& victim);

struct Alert {
  AlertReason reason = AlertReason::oom_kill;
  std::int64_t at_ms = 0;    // of what happened, on the wall clock
  std::int64_t tick_ms = 0;  // of the tick that tells of it, on the boot clock
  std::string text;          // a sentence
  // Of the leak that runs out first.
  std::string subject{};
  std::string limit{};
};

struct AlertLimits {
  bool on = false;
  std::int64_t pressure_ppm = 0;  // 0: off
  std::int64_t leak_ms = 0;       // 0: off
  std::int64_t every_ms = 0;
  std::int64_t leak_every_ms = 0;  // of one leak

  bool operator==(const AlertLimits&) const = default;
};

class AlertRules {
 public:
  void set(const AlertLimits& limits) { limits_ = limits; }

  std::vector<Alert> see(const Tick& tick);
  // What leaks, what runs out soonest first; `at` is that of the last tick.
  std::optional<Alert> see(const std::vector<Forecast>& forecasts, const Moment& at);

 private:
  bool rests(AlertReason reason, std::int64_t now_ms) const;
  void note_told(AlertReason reason, std::int64_t now_ms) { last_ms_.at(static_cast<std::size_t>(reason)) = now_ms; }
  void add(Alert alert, std::vector<Alert>& due);
  bool was_untold_kill(const Tick& tick);

  AlertLimits limits_;
  std::array<std::optional<std::int64_t>, static_cast<std::size_t>(AlertReason::count_)> last_ms_;
  std::map<std::string, std::int64_t> leaks_;  // that had theirs, and when
  std::optional<std::int64_t> kills_;          // by the machine's counter, at the last tick that has it
  std::int64_t kills_ahead_ = 0;               // of cgroups, which that counter did not have yet
};

}  // namespace memoir
