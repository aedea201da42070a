#pragma once

// Interrupts a connection's operation when its time is up. Uses its own thread: up to SQLite 3.40 a progress handler is
// not called while a tree is checked (https://sqlite.org/changes.html, 3.41.0).

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

struct sqlite3;

namespace memoir {

class TimeLimit {
 public:
  TimeLimit(sqlite3* database, std::chrono::milliseconds within);
  ~TimeLimit() { stop(); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // Ends the limit. Returns false if it was exceeded.
  bool stop();

 private:
  std::mutex mutex_;  // protects the following members
  std::condition_variable changed_;
  bool done_ = false;
  bool late_ = false;
  std::thread timer_;
};

// Calls a function every given number of SQLite's steps; false interrupts the connection's operation.
class ProgressWatch {
 public:
  ProgressWatch(sqlite3* database, int steps, std::function<bool()> goes_on);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

 private:
  sqlite3* database_;
  std::function<bool()> goes_on_;
};

// Ends a connection's operation on a request to stop, and when the calling thread has used this much CPU time: a query
// of any file completes or fails within that time. Waiting for a disk or for other processes does not count.
class AnswerLimit : public ProgressWatch {
 public:
  AnswerLimit(sqlite3* database, std::optional<std::chrono::milliseconds> within, std::stop_token stop = {});
};

}  // namespace memoir
