#include "recorder/alert/alerts.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "base/capability.h"
#include "base/command.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

namespace memoir {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxWaiting = 4;
// Any user can fill a tmpfs, so tmpfs alerts may use only half of the places. The others stay free for OOM kills.
constexpr std::size_t kMaxTmpfsWaiting = 2;
// An alert waits at most this long for its tick to be stored. After that it runs on the data stored so far.
constexpr std::int64_t kStoredWithinMs = 60'000;
constexpr std::int64_t kHoursOfDay = 24;
// The first check comes a tenth of [leaks] hour after the start, because an earlier run may have recorded enough data.
constexpr std::int64_t kFirstCheckInHour = 10;
constexpr milliseconds kMinBetweenChecks{500};
// Limits the time of `memoir leaks`: it reads in one transaction, during which the write-ahead log grows.
constexpr milliseconds kCheckWithin = std::chrono::seconds(60);
constexpr std::size_t kMaxOfAnswer = 1024 * 1024;
// Memory limit of memoir, small enough that memoir and the recorder together stay within the unit's limit.
constexpr const char* kMemoirMemory = "MEMOIR_DATA_MIB=120";
constexpr const char* kLeaksAsked = "50";
constexpr milliseconds kStopWithin{3'500};

AlertLimits limits_of(const Config& config) {
  return {.on = !config.alert_exec.empty(),
          .pressure_ppm = config.alert_pressure_ppm,
          .leak_ms = config.alert_leak.count(),
          .leak_confirmed = config.alert_confirmed,
          .limit_ppm = config.alert_limit_ppm,
          .tmpfs_ppm = config.alert_tmpfs_ppm,
          .swap_ppm = config.alert_swap_ppm,
          .every_ms = config.alert_every.count(),
          .leak_every_ms = std::max(config.alert_every, kHoursOfDay * config.leaks_hour).count()};
}

Result<std::vector<Forecast>> find_leaks(const std::vector<std::string>& words, std::stop_token stop) {
  clear_inheritable_caps();
  const auto memoir = find_memoir();
  if (!memoir) return Error{ErrorKind::not_found, "memoir was not found"};
  const CommandOutput answer = TRY(run_command(*memoir, words,
                                               {.time = kCheckWithin,
                                                .bytes = kMaxOfAnswer,
                                                .stop = std::move(stop),
                                                .background = true,
                                                .environment = {kMemoirMemory}}));
  if (!answer.problem.empty()) return Error{ErrorKind::io, "memoir leaks: " + answer.problem};
  return parse_forecasts(answer.out);
}

}  // namespace

Alerts::Alerts(asio::io_context& loop, const Clock& clock, Notify notify)
    : loop_(loop), clock_(clock), notify_(std::move(notify)), check_timer_(loop) {}

void Alerts::set(const Config& config, std::string config_path) {
  config_ = config;
  config_path_ = std::move(config_path);
  rules_.set(limits_of(config));
  if (!on()) waiting_.clear();
  await_check(config.leaks_hour / kFirstCheckInHour);
}

std::string Alerts::lack() const {
  if (!on()) return "";
  const std::string& program = config_.alert_exec.front();
  if (::access(program.c_str(), X_OK) != 0) {
    return errno_error(errno, "run", program).message + ": no alerts are sent; see exec in [alert]";
  }
  if (find_memoir()) return "";
  return "memoir was not found next to memoird or on PATH: alerts have no incident report, and leaks cause no alerts";
}

void Alerts::see(const Tick& tick) {
  last_tick_ = tick.begin;
  if (!on()) return;
  for (Alert& alert : rules_.see(tick)) add(std::move(alert));
  run_next();
}

void Alerts::stored(std::int64_t tick_ms) {
  stored_ms_ = std::max(stored_ms_, tick_ms);
  run_next();
}

void Alerts::stop() {
  stopped_ = true;
  check_timer_.cancel();
  check_.stop(kStopWithin);
  waiting_.clear();
  if (!running_) return;
  const auto end = run_.stop(kStopWithin);
  ended(*std::exchange(running_, std::nullopt),
        end ? *end : AlertEnd{.well = false, .text = "The alert command is still running: it could not be killed"});
}

void Alerts::add(Alert alert) {
  if (alert.reason == AlertReason::leak) {
    log_message(LogLevel::warning, "alert: " + alert.text, message_id::kLeak,
                {{"MEMOIR_SUBJECT", to_printable(alert.subject)}, {"MEMOIR_LIMIT", to_printable(alert.limit)}});
  } else {
    log_warning("alert: " + alert.text);
  }
  const std::size_t most = alert.reason == AlertReason::tmpfs ? kMaxTmpfsWaiting : kMaxWaiting;
  if (waiting_.size() < most) return waiting_.push_back(std::move(alert));
  ended(alert, AlertEnd{.well = false, .text = "The alert command was not run: too many alerts are waiting"});
}

void Alerts::run_next() {
  if (!on() || running_ || waiting_.empty()) return;
  const std::int64_t now_ms = clock_.now().boot_ms;
  const auto next = std::ranges::find_if(waiting_, [this, now_ms](const Alert& alert) {
    return alert.tick_ms <= stored_ms_ || now_ms - alert.tick_ms >= kStoredWithinMs;
  });
  if (next == waiting_.end()) return;
  running_ = std::move(*next);
  waiting_.erase(next);
  AlertRun run{
      .exec = config_.alert_exec,
      .memoir = words({"incident", "--at", fmt::format("@{}", running_->at_ms)}),
      .environment = {kMemoirMemory, fmt::format("MEMOIR_ALERT={}", to_string(running_->reason)),
                      "MEMOIR_ALERT_TEXT=" + running_->text, fmt::format("MEMOIR_ALERT_AT={}", running_->at_ms),
                      "MEMOIR_ALERT_SUBJECT=" + to_printable(running_->subject)},
      .timeout = config_.alert_timeout};
  const bool started = run_.start(
      loop_, [run = std::move(run)](const std::stop_token& stop) { return run_alert(run, stop); },
      [this](const Result<AlertEnd>& end) {
        ended(*std::exchange(running_, std::nullopt), end);
        run_next();
      });
  if (!started) {
    ended(*std::exchange(running_, std::nullopt),
          AlertEnd{.well = false, .text = "The alert command could not be run: cannot start a thread"});
  }
}

void Alerts::ended(const Alert& alert, const Result<AlertEnd>& end) {
  const std::string& text = end ? end->text : end.error().message;
  const std::string line = fmt::format("alert ({}): {}", to_string(alert.reason), text);
  end && end->well ? log_info(line) : log_error(line);
  notify_("alert", fmt::format("{} {}", alert.text, text));
}

std::vector<std::string> Alerts::words(std::vector<std::string> command) const {
  command.insert(command.end(), {"--db", config_.db, "--format", "json"});
  return command;
}

void Alerts::await_check(milliseconds after) {
  check_timer_.cancel();
  if (!on() || (config_.alert_leak.count() == 0 && !config_.alert_confirmed)) return;
  check_timer_.expires_after(std::max(after, kMinBetweenChecks));
  check_timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    log_exceptions("leak alerts", [this] { check(); });
    await_check(config_.leaks_hour);
  });
}

void Alerts::check() {
  if (check_.running() || stored_ms_ == 0) return;
  std::vector<std::string> asked = words({"leaks", "--limit", kLeaksAsked});
  if (!config_path_.empty()) asked.insert(asked.end(), {"--config", config_path_});
  const bool started = check_.start(
      loop_, [asked = std::move(asked)](std::stop_token stop) { return find_leaks(asked, std::move(stop)); },
      [this](const Result<Forecasts>& forecasts) { checked(forecasts); });
  if (!started) checked(Error{ErrorKind::io, "cannot start a thread"});
}

void Alerts::checked(const Result<Forecasts>& forecasts) {
  cannot_check_.report(forecasts ? "" : "cannot check for leaks: " + forecasts.error().message);
  if (!forecasts) return;
  // If the queue is full, the next check reports the leaks.
  if (!on() || waiting_.size() >= kMaxWaiting) return;
  if (auto alert = rules_.see(*forecasts, last_tick_)) add(*std::move(alert));
  run_next();
}

}  // namespace memoir
