#include "recorder/storage.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "collect/worker/cost_span.h"
#include "config/config.h"
#include "recorder/log_throttle.h"
#include "recorder/trim_memory.h"
#include "store/sqlite/failure.h"

namespace memoir {
namespace {

constexpr std::int64_t kGiveBackEveryMs = 60'000;
constexpr const char* kStore = "the database";  // the subject of errors made from exceptions

using SteadyTime = std::chrono::steady_clock::time_point;

std::string counted(std::int64_t count, const char* thing, const char* plural) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : plural);
}

std::string lost_work(const DroppedWork& lost) {
  std::vector<std::string> parts;
  if (lost.ticks > 0) {
    parts.push_back(
        fmt::format("{} from {} to {}", counted(lost.ticks, "tick", "s"), utc(lost.first_ms), utc(lost.last_ms)));
  }
  if (lost.events > 0) parts.push_back(counted(lost.events, "event", "s"));
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string lost_text(const DroppedWork& lost) {
  const std::string processes =
      lost.processes == 0 ? "" : fmt::format("; the names of {} are unknown", counted(lost.processes, "process", "es"));
  return fmt::format("{} could not be stored in time and had to be dropped{}", lost_work(lost), processes);
}

std::string refused_text(const DroppedWork& refused, const std::string& why) {
  return fmt::format("The store refused {}: {}", lost_work(refused), why);
}

Status store(Writer& writer, const WorkItem& item) {
  if (const auto* tick = std::get_if<Tick>(&item)) return writer.write(*tick);
  if (const auto* event = std::get_if<Event>(&item)) return writer.write_event(*event);
  if (const auto* run = std::get_if<RunInfo>(&item)) return writer.begin_run(*run);
  const auto& end = std::get<RunEnd>(item);
  return writer.end_run(end.at, end.reason);
}

}  // namespace

struct Storage::State {
  State(std::unique_ptr<Writer> the_writer, const Clock& the_clock, StorageOptions the_options,
        std::function<void()> call)
      : writer(std::move(the_writer)),
        clock(the_clock),
        options(the_options),
        on_answer(std::move(call)),
        maintain_from(std::chrono::steady_clock::now() + options.first_maintenance),
        queue(options.queue),
        retry(options.first_retry) {}

  enum class Next { store, maintain, end };

  void run();
  bool work();
  void end();
  Next wait_for_work(std::optional<WorkItem>& item);
  void maintain();
  void stored(const WorkItem& item);
  void failed(WorkItem item, const Error& error);
  void drop_refused(const WorkItem& item, const Error& error);
  void report_lost();
  void report_refused();
  void give_back(std::int64_t waiting);

  // Members used only by the storing thread.
  std::unique_ptr<Writer> writer;
  const Clock& clock;
  const StorageOptions options;
  const std::function<void()> on_answer;
  LogThrottle failure_log;
  LogThrottle refusal_log;
  LogThrottle maintenance_log;
  bool refusing = false;  // nothing was stored since the last refusal
  DroppedWork refused;    // refused work that is not reported yet
  std::string refusal;    // error of the last refusal
  const SteadyTime maintain_from;
  std::optional<SteadyTime> maintain_at;  // time of the next maintenance; nullopt if none is needed
  int ticks_since_maintenance = 0;
  std::int64_t given_back_ms = clock.now().boot_ms;  // boot clock, when free memory was last returned
  Cost spent;                                        // cost of all work since the last stored tick

  std::mutex mutex;  // protects the following members
  std::condition_variable changed;
  WorkQueue queue;
  StorageCounts counts;
  std::chrono::milliseconds retry;
  std::optional<std::int64_t> busy_since_us;
  std::optional<SteadyTime> retry_at;
  std::optional<SteadyTime> give_up_at;
  std::string last_error;
  bool finishing = false;
  bool done = false;
};

void Storage::State::run() {
  bool more = true;
  while (more) {
    try {
      more = work();
    } catch (const std::exception& failure) {
      log_exception("storage", failure);
      const std::scoped_lock lock(mutex);
      retry_at = std::chrono::steady_clock::now() + options.first_retry;
    }
  }
  end();
}

// Does the next piece of work. Returns false if none will follow.
bool Storage::State::work() {
  std::optional<WorkItem> item;
  const Next next = wait_for_work(item);
  if (next == Next::end) return false;
  CostSpan span;
  if (next == Next::maintain) {
    maintain();
  } else {
    if (auto* const tick = std::get_if<Tick>(&*item)) tick->storing = spent;
    const Status result = guarded(kStore, [&] { return store(*writer, *item); });
    result ? stored(*item) : failed(std::move(*item), result.error());
  }
  span.add_to(spent);
  return true;
}

void Storage::State::end() {
  const std::scoped_lock lock(mutex);
  // Closing the file may hang like a write, so it happens within the time limit of finish().
  writer.reset();
  busy_since_us.reset();
  done = true;
  changed.notify_all();
}

// Waits for the next piece of work, and for the retry delay after a failure.
Storage::State::Next Storage::State::wait_for_work(std::optional<WorkItem>& item) {
  std::unique_lock lock(mutex);
  busy_since_us.reset();
  while (true) {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (give_up_at && now >= *give_up_at) return Next::end;
    const bool must_wait = retry_at && now < *retry_at;
    const bool can_store = !must_wait && !queue.empty();
    const bool yields = queue.empty() || ticks_since_maintenance >= options.ticks_without_maintenance;
    if (maintain_at && now >= *maintain_at && yields && !must_wait && !finishing) {
      busy_since_us = steady_us();
      return Next::maintain;
    }
    if (can_store) break;
    if (finishing && queue.empty()) return Next::end;
    std::optional<SteadyTime> until = must_wait ? retry_at : maintain_at;
    if (give_up_at && until) until = std::min(*until, *give_up_at);
    if (until && !(finishing && !must_wait)) {
      changed.wait_until(lock, *until);
    } else {
      changed.wait(lock);
    }
  }
  busy_since_us = steady_us();
  item = queue.take();
  return Next::store;
}

// A failure of maintenance delays no tick. It may have the same cause as a failure to store, so its log lines are
// throttled too.
void Storage::State::maintain() {
  ticks_since_maintenance = 0;
  const Result<Maintenance> done_now = guarded(kStore, [&] { return writer->maintain(); });
  if (done_now) {
    if (maintenance_log.over()) log_info("the database can be maintained again");
    if (!done_now->more) maintain_at.reset();
    return;
  }
  maintain_at = std::chrono::steady_clock::now() + options.maintenance_retry;
  if (!maintenance_log.due(clock.now().boot_ms)) return;
  log_error(fmt::format("cannot roll up or delete old data: {} (retry in {}; ticks are stored as before)",
                        done_now.error().message, format_duration(options.maintenance_retry)));
}

void Storage::State::stored(const WorkItem& item) {
  const Tick* const tick = std::get_if<Tick>(&item);
  std::int64_t waiting = 0;
  {
    const std::scoped_lock lock(mutex);
    retry = options.first_retry;
    retry_at.reset();
    if (tick != nullptr) {
      ++counts.stored;
      counts.last_ms = tick->begin.boot_ms;
    }
    waiting = static_cast<std::int64_t>(queue.ticks());
  }
  if (failure_log.over()) log_info(fmt::format("the store works again; ticks waiting: {}", waiting));
  if (tick == nullptr) return;
  spent = {};
  give_back(waiting);
  ++ticks_since_maintenance;
  if (!maintain_at) maintain_at = std::max(std::chrono::steady_clock::now(), maintain_from);
  report_lost();
  refusing = false;
  refusal_log.over();
  if (refused.any()) report_refused();
  on_answer();
}

void Storage::State::failed(WorkItem item, const Error& error) {
  if (error.kind == ErrorKind::refused) return drop_refused(item, error);
  const bool log = failure_log.due(clock.now().boot_ms);
  std::int64_t waiting = 0;
  std::int64_t dropped = 0;
  std::chrono::milliseconds pause{};
  {
    const std::scoped_lock lock(mutex);
    queue.put_back(std::move(item));
    last_error = error.message;
    pause = finishing ? std::min(options.first_retry, options.finish_within / 10) : retry;
    retry_at = std::chrono::steady_clock::now() + pause;
    retry = std::min(retry * 2, options.last_retry);
    waiting = static_cast<std::int64_t>(queue.ticks());
    dropped = queue.lost().ticks;
  }
  on_answer();
  if (!log) return;
  log_error(fmt::format("cannot store: {} (retry in {}; sampling continues; ticks waiting: {}, dropped: {})",
                        error.message, format_duration(pause), waiting, dropped));
}

// Counts refused work. The first refusal is reported as an event immediately; later ones are counted until a tick is
// stored.
void Storage::State::drop_refused(const WorkItem& item, const Error& error) {
  if (const Tick* const tick = std::get_if<Tick>(&item)) {
    if (refused.ticks++ == 0) refused.first_ms = tick->begin.wall_ms;
    refused.last_ms = tick->begin.wall_ms;
    const std::scoped_lock lock(mutex);
    ++counts.dropped;
  } else {
    ++refused.events;
  }
  refusal = error.message;
  if (refusal_log.due(clock.now().boot_ms)) log_error(refused_text(refused, refusal));
  if (!std::exchange(refusing, true)) report_refused();
  on_answer();
}

void Storage::State::report_refused() {
  const std::scoped_lock lock(mutex);
  queue.put_back(Event{.at = clock.now(), .kind = "lost", .text = refused_text(refused, refusal)});
  refused = {};
}

// Returns free memory to the kernel, at most once a minute. A backlog, many processes or rare work may have needed it.
void Storage::State::give_back(std::int64_t waiting) {
  const std::int64_t now_ms = clock.now().boot_ms;
  if (waiting > 0 || now_ms - given_back_ms < kGiveBackEveryMs) return;
  given_back_ms = now_ms;
  trim_memory();
}

void Storage::State::report_lost() {
  DroppedWork lost;
  {
    const std::scoped_lock lock(mutex);
    if (!queue.lost().any()) return;
    lost = queue.lost();
    counts.dropped += lost.ticks;
    queue.clear_lost();
    // The event is separate work, so it is retried like any other. It comes first, because the waiting work may end the
    // run.
    queue.put_back(Event{.at = clock.now(), .kind = "lost", .text = lost_text(lost)});
  }
  log_warning(lost_text(lost));
}

Storage::Storage(std::unique_ptr<Writer> writer, const Clock& clock, StorageOptions options,
                 std::function<void()> on_answer)
    : state_(std::make_shared<State>(std::move(writer), clock, options, std::move(on_answer))),
      thread_([state = state_] { state->run(); }) {}

Storage::~Storage() {
  if (thread_.joinable()) finish();
}

void Storage::push(WorkItem item) {
  const std::scoped_lock lock(state_->mutex);
  state_->queue.push(std::move(item));
  state_->changed.notify_all();
}

StorageCounts Storage::counts() const {
  const std::scoped_lock lock(state_->mutex);
  StorageCounts counts = state_->counts;
  counts.dropped += state_->queue.lost().ticks;
  counts.waiting = static_cast<std::int64_t>(state_->queue.ticks());
  return counts;
}

bool Storage::run_end_waiting() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->queue.has_run_end();
}

std::int64_t Storage::busy_ms() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->busy_since_us ? (steady_us() - *state_->busy_since_us) / 1000 : 0;
}

Finish Storage::finish() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.finishing = true;
  state.give_up_at = std::chrono::steady_clock::now() + state.options.finish_within;
  // Retries immediately, because the last failure may be long ago.
  state.retry_at.reset();
  state.changed.notify_all();
  const bool ended =
      state.changed.wait_until(lock, *state.give_up_at + std::chrono::seconds(1), [&state] { return state.done; });
  const std::size_t waiting = state.queue.ticks();
  const bool complete = ended && state.queue.empty();
  const std::string error = state.last_error;
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
  if (complete) return Finish::stored;
  log_error(fmt::format("{}: the end of the run and {} in the queue are lost",
                        ended ? error : "a write to the database hangs",
                        counted(static_cast<std::int64_t>(waiting), "tick", "s")));
  return ended ? Finish::lost : Finish::abandoned;
}

}  // namespace memoir
