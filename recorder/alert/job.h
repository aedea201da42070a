#pragma once

// Runs one piece of work at a time on its own thread, so that no tick waits for it. The result is delivered on the
// loop; an exception is delivered as an Error.

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include "base/result.h"

namespace memoir {

template <typename T>
class Job {
 public:
  Job() = default;
  ~Job() { stop(std::chrono::milliseconds(0)); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool running() const { return state_ != nullptr; }

  // Starts the work. Call it only while no work is running. Returns false if no thread can be started.
  bool start(asio::io_context& loop, std::function<Result<T>(std::stop_token)> work,
             std::function<void(Result<T>)> done) {
    auto state = std::make_shared<State>();
    state->deliver = [this, &loop] { asio::post(loop, [this] { finish(); }); };
    done_ = std::move(done);
    try {
      thread_ = std::thread([state, work = std::move(work)] { state->run(work); });
    } catch (const std::system_error&) {
      return false;
    }
    state_ = std::move(state);
    return true;
  }

  // Asks the work to stop and waits for it, up to `patience`. Returns its result, which is then not delivered. Returns
  // nullopt if no work is running, or if the work hangs: then its thread is left running.
  std::optional<Result<T>> stop(std::chrono::milliseconds patience) {
    if (!running()) return std::nullopt;
    const std::shared_ptr<State> state = std::exchange(state_, nullptr);
    state->stop.request_stop();
    std::unique_lock lock(state->mutex);
    state->deliver = nullptr;
    state->ended.wait_for(lock, patience, [&state] { return state->result.has_value(); });
    std::optional<Result<T>> result = std::move(state->result);
    lock.unlock();
    result ? thread_.join() : thread_.detach();
    return result;
  }

 private:
  struct State {
    void run(const std::function<Result<T>(std::stop_token)>& work) {
      try {
        keep(work(stop.get_token()));
      } catch (const std::exception& failure) {
        keep(Error{ErrorKind::io, failure.what()});
      }
    }

    void keep(Result<T> value) {
      const std::scoped_lock lock(mutex);
      result = std::move(value);
      ended.notify_all();
      if (deliver) deliver();
    }

    std::stop_source stop;
    std::mutex mutex;  // protects the following members
    std::condition_variable ended;
    std::optional<Result<T>> result;
    std::function<void()> deliver;  // null: the result is no longer wanted
  };

  void finish() {
    if (!running()) return;
    thread_.join();
    const std::shared_ptr<State> state = std::exchange(state_, nullptr);
    // Cleared first, because `done` may start the next work.
    const auto done = std::exchange(done_, nullptr);
    done(*std::move(state->result));
  }

  std::shared_ptr<State> state_;  // shared with the thread
  std::thread thread_;
  std::function<void(Result<T>)> done_;
};

}  // namespace memoir
