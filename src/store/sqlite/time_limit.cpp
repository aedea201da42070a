#include "store/sqlite/time_limit.h"

#include <sqlite3.h>
#include <utility>

#include "base/clock.h"

namespace memoir {

TimeLimit::TimeLimit(sqlite3* database, std::chrono::milliseconds within)
    : timer_([this, database, within] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, within, [this] { return done_; })) return;
        late_ = true;
        sqlite3_interrupt(database);
      }) {}

bool TimeLimit::stop() {
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (timer_.joinable()) timer_.join();
  return !late_;
}

namespace {

// SQLite's steps between two checks of the time. Reading the clock costs as much as a few hundred steps.
constexpr int kSteps = 50'000;

std::chrono::microseconds computed() {
  return std::chrono::microseconds(thread_cpu_us());
}

}  // namespace

ProgressWatch::ProgressWatch(sqlite3* database, int steps, std::function<bool()> goes_on)
    : database_(database), goes_on_(std::move(goes_on)) {
  const auto ask = [](void* self) { return static_cast<ProgressWatch*>(self)->goes_on_() ? 0 : 1; };
  sqlite3_progress_handler(database, steps, ask, this);
}

ProgressWatch::~ProgressWatch() {
  sqlite3_progress_handler(database_, 0, nullptr, nullptr);
}

AnswerLimit::AnswerLimit(sqlite3* database, std::optional<std::chrono::milliseconds> within, std::stop_token stop)
    : ProgressWatch(database, kSteps,
                    [end = within ? std::optional(computed() + *within) : std::nullopt, stop = std::move(stop)] {
                      return !stop.stop_requested() && (!end || computed() <= *end);
                    }) {}

}  // namespace memoir
