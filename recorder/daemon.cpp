#include "recorder/daemon.h"

#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>
#include <utility>

#include <asio/post.hpp>

#include "base/log.h"
#include "base/version.h"
#include "proc/proc_fs.h"
#include "store/recovering_writer.h"
#include "store/sqlite/file_system.h"

namespace memoir {
namespace {

constexpr std::int64_t kStatusEveryMs = 1'000;
// Signals that come within this time are one: a storm of them costs one tick, one reload.
constexpr std::chrono::milliseconds kSignalsTogether{10};

}  // namespace

Daemon::Daemon(Options options, Settings settings) : options_(std::move(options)), settings_(std::move(settings)) {}

Status Daemon::start() {
  // From here on they do not kill: opening a large database after a crash takes its time.
  signals_.add(SIGHUP);
  signals_.add(SIGUSR1);
  const Config& config = settings_.config;
  Rules rules = TRY(make_rules(settings_));
  ProcFs proc(options_.proc);
  boot_ = TRY(proc.boot(clock_.now()));

  TRY(prepare_folder(config));
  Result<std::unique_ptr<Writer>> writer =
      open_recovering(config.db, clock_, {.durability = durability(config), .on_anew = [this] {
                                            asio::post(loop_, [this] { collector_->report_all(); });
                                          }});
  if (!writer) return writer.error();
  const std::vector<KnownProcess> known = TRY((*writer)->known_processes(boot_.boot_id));

  const CollectorOptions collecting{.max_descriptors = raise_descriptor_limit(),
                                    .max_command_bytes = static_cast<std::size_t>(config.max_command_bytes),
                                    .read_deadline = config.read_deadline,
                                    .ticks_per_second = sysconf(_SC_CLK_TCK),
                                    .cgroup_root = options_.cgroups,
                                    .store_bytes = config.max_size};
  collector_ = std::make_unique<Collector>(std::move(proc), clock_, std::move(rules.categoriser),
                                           std::move(rules.redactor), collecting);
  collector_->seed(known);

  StorageOptions storing;
  storing.queue.ticks = static_cast<std::size_t>(config.queue_ticks);
  storing.queue.bytes = static_cast<std::size_t>(config.queue_mib) << 20U;
  storage_ = std::make_unique<Storage>(*std::move(writer), clock_, storing, [this] {
    if (!store_answered_.exchange(true)) asio::post(loop_, [this] { on_first_answer(); });
  });
  return Done{};
}

int Daemon::run() {
  log_info(fmt::format("memoird {} ({}) records every {} into {}", version(), version_commit(),
                       print_duration(settings_.config.interval), settings_.config.db));
  stops_.add(SIGTERM);
  stops_.add(SIGINT);
  begin_run();
  if (options_.once) return stop("once");
  await_stop();
  await_signal();
  await_end();
  await_watchdog();
  loop_.run();
  return stop(end_reason_);
}

void Daemon::await_stop() {
  stops_.async_wait([this](const asio::error_code& error, int signal) {
    if (error) return;
    log_info(fmt::format("{}: takes a last tick and ends", signal == SIGTERM ? "SIGTERM" : "SIGINT"));
    loop_.stop();
  });
}

void Daemon::await_signal() {
  signals_.async_wait([this](const asio::error_code& error, int signal) {
    if (error) return;
    if (!tick_due_ && !reload_due_) {
      signal_timer_.expires_after(kSignalsTogether);
      signal_timer_.async_wait([this](const asio::error_code& cancelled) {
        if (!cancelled) handle_signals();
      });
    }
    (signal == SIGHUP ? reload_due_ : tick_due_) = true;
    await_signal();
  });
}

void Daemon::handle_signals() {
  if (std::exchange(tick_due_, false)) take_tick(false, 0);
  if (std::exchange(reload_due_, false)) reload();
}

void Daemon::await_slot() {
  const Moment now = clock_.now();
  const Slot slot = schedule_->next(now);
  slot_timer_.expires_after(std::chrono::milliseconds(slot.at_ms - now.wall_ms));
  slot_timer_.async_wait([this, skipped = slot.skipped, run = run_](const asio::error_code& error) {
    // A slot of the run before may have come up already when a reload began a new one.
    if (error || run != run_) return;
    take_tick(false, skipped);
    await_slot();
    if (reload_put_off_) reload();
  });
}

void Daemon::await_end() {
  if (!options_.duration) return;
  end_timer_.expires_after(*options_.duration);
  end_timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    end_reason_ = "duration";
    loop_.stop();
  });
}

// The loop proves itself by coming here; the storing thread, by not being at one piece of work for too long.
void Daemon::await_watchdog() {
  if (!watchdog_) return;
  if (std::chrono::milliseconds(storage_->busy_ms()) < *watchdog_) notifier_.send("WATCHDOG=1");
  watchdog_timer_.expires_after(*watchdog_ / 2);
  watchdog_timer_.async_wait([this](const asio::error_code& error) {
    if (!error) await_watchdog();
  });
}

void Daemon::take_tick(bool keyframe, std::int64_t skipped) {
  const Moment now = clock_.now();
  keyframe = keyframe || keyframe_due(now.wall_ms, last_keyframe_ms_, options_.keyframe_every.count());
  Result<Tick> tick = collector_->collect(keyframe);
  if (!tick) {
    if (collect_log_.due(now.boot_ms)) log_error(fmt::format("cannot take a tick: {}", tick.error().message));
    return;
  }
  if (collect_log_.over()) log_info("ticks can be taken again");
  if (keyframe) last_keyframe_ms_ = tick->begin.wall_ms;
  tick->skipped = skipped;
  if (skipped > 0) log_debug(fmt::format("{} slots passed over", skipped));
  const Cost cost = tick->total;
  report_suspension();
  storage_->push(*std::move(tick));
  for (const Event& happened : collector_->events()) {
    log_warning(happened.text);
    storage_->push(happened);
  }
  if (!access_reported_) report_access();
  report_status(now, cost);
}

void Daemon::report_access() {
  access_reported_ = true;
  report_degraded(collector_->access().note);
  const Result<std::string> remote = remote_file_system_of(settings_.config.db);
  if (!remote || remote->empty()) return;
  report_degraded(
      fmt::format("{} lies on {}: the write-ahead log needs memory that all who use the file share, which a "
                  "network's file system does not have. Record to a local disk, and copy the file.",
                  settings_.config.db, *remote));
}

void Daemon::report_degraded(const std::string& note) {
  if (note.empty()) return;
  log_warning(note);
  event("degraded", note);
}

void Daemon::report_suspension() {
  const auto slept_ms = suspension_.see(suspended_ms());
  if (!slept_ms) return;
  const std::string text =
      fmt::format("The machine was suspended for {:.1f} s", static_cast<double>(*slept_ms) / 1000.0);
  log_info(text);
  event("suspend", text);
}

void Daemon::report_status(const Moment& now, const Cost& cost) {
  if (!notifier_.connected() || now.boot_ms - status_reported_ms_ < kStatusEveryMs) return;
  status_reported_ms_ = now.boot_ms;
  const StorageCounts counts = storage_->counts();
  notifier_.send(fmt::format("STATUS={} ticks stored, {} waiting, {} dropped; the last took {:.1f} ms of CPU; {}",
                             counts.stored, counts.waiting, counts.dropped, static_cast<double>(cost.cpu_us) / 1000.0,
                             settings_.config.db));
}

void Daemon::on_first_answer() {
  // Also where the store is out of order: we record into the queue, and must not be killed for being late.
  notifier_.send("READY=1");
  // What start-up needed, the rules' compilation above all, is not needed again.
  malloc_trim(0);
}

void Daemon::begin_run() {
  const Moment now = clock_.now();
  const std::int64_t interval_ms = settings_.config.interval.count();
  storage_->push(RunInfo{.boot = boot_,
                         .pid = getpid(),
                         .version = fmt::format("{} ({})", version(), version_commit()),
                         .interval_ms = interval_ms,
                         .started = now,
                         .retention = retention(settings_.config)});
  last_keyframe_ms_ = 0;
  schedule_.emplace(interval_ms, now);
  ++run_;
  take_tick(true, 0);
  await_slot();
}

int Daemon::stop(const std::string& reason) {
  notifier_.send("STOPPING=1");
  if (!options_.once) take_tick(true, 0);
  storage_->push(RunEnd{.at = clock_.now(), .reason = reason});
  const Finish finish = storage_->finish();
  if (finish == Finish::abandoned) std::_Exit(EXIT_FAILURE);
  const StorageCounts counts = storage_->counts();
  log_info(fmt::format("ended: {}; {} ticks stored, {} dropped", reason, counts.stored, counts.dropped));
  return finish == Finish::stored ? EXIT_SUCCESS : EXIT_FAILURE;
}

void Daemon::event(const char* kind, std::string text) {
  storage_->push(Event{.at = clock_.now(), .kind = kind, .text = std::move(text)});
}

}  // namespace memoir
