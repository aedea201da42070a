#include "store/time_limit.h"

#include <sqlite3.h>

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

}  // namespace memoir
