#pragma once

// Interrupts what a connection is at when its time is up. From a thread of its own: up to SQLite 3.40 a progress
// handler is not asked while a tree is checked (https://sqlite.org/changes.html, 3.41.0).

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

struct sqlite3;

namespace memoir {

class TimeLimit {
 public:
  TimeLimit(sqlite3* database, std::chrono::milliseconds within);
  ~TimeLimit() { stop(); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // The work is done. Whether it was in time.
  bool stop();

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool done_ = false;
  bool late_ = false;
  std::thread timer_;
};

// Asks every so many of SQLite's steps whether a connection goes on with what it is at; false interrupts that.
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

// Ends what a connection is at when the program has computed for so long: whatever a file holds, an answer comes or is
// refused within this. Time that it waits for a disk or for others does not count.
class CpuLimit : public ProgressWatch {
 public:
  CpuLimit(sqlite3* database, std::chrono::milliseconds within);
};

}  // namespace memoir
