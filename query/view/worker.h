#pragma once

// One thread that owns the session and answers questions. A newer question replaces the one of the same slot, even
// while that is being answered. Between questions the thread checks for new ticks. Extracts are saved by a second
// thread.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "query/session/session.h"
#include "query/view/update.h"

namespace memoir::query::view {

RecordingInfo recorded_of(const Session& session, std::int64_t now_ms);
// Answers one question.
Answered answer_question(Session& session, const Interaction& around, const AskFor& question, std::int64_t now_ms,
                         const std::stop_token& stop);
// Returns the tick at or before a time, or one that is some ticks further.
Sought answer_seek(Session& session, const Seek& seek);

class Worker {
 public:
  Worker(Session session, const Interaction& around);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  void ask(AskFor question);
  void seek(Seek seek);
  // A descriptor that becomes readable when there are messages.
  int file() const { return wake_[0]; }
  std::vector<Msg> take();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Due {
    AskFor question;
    Time at;
  };

  void run(const std::stop_token& stop);
  void look_for_ticks();
  void start_extract(AskFor question);
  void post(Msg msg);
  std::optional<Slot> next_slot(Time now) const;
  Time next_due(Time poll) const;
  std::chrono::milliseconds poll_interval() const;

  Session session_;
  const Interaction& around_;
  std::array<int, 2> wake_{-1, -1};
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::array<std::optional<Due>, kSlots> due_;
  std::optional<Seek> seek_;
  std::optional<Slot> running_;
  std::stop_source stop_running_;
  std::vector<Msg> messages_;
  bool lost_ = false;
  Recording state_ = Recording::never;  // state that was reported last
  std::int64_t reported_ms_ = 0;
  std::atomic<bool> extracting_ = false;
  std::jthread extract_;  // a new extract stops the previous one
  std::jthread thread_;   // last member: its thread uses the others
};

}  // namespace memoir::query::view
