#include "recorder/daemon.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <asio/post.hpp>

#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "recorder/last_end.h"
#include "recorder/self_usage.h"
#include "recorder/source.h"
#include "recorder/trim_memory.h"
#include "store/recovering_writer.h"
#include "store/sqlite/database.h"
#include "store/sqlite/file_system.h"

namespace memoir {
namespace {

constexpr std::int64_t kStatusEveryMs = 1'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kMemoryEveryMs = 60'000;
constexpr std::int64_t kIncidentEveryMs = 15 * 60 * 1'000;
// Signals within this time count as one: a flood of them costs one tick and one reload.
constexpr std::chrono::milliseconds kSignalsTogether{10};

}  // namespace

Daemon::Daemon(RecorderOptions options, Settings settings)
    : options_(std::move(options)), settings_(std::move(settings)) {}

Status Daemon::start(Rules rules) {
  // Opening a large database after a crash takes long. From here on SIGHUP and SIGUSR1 do not kill the recorder, and
  // SIGTERM and SIGINT end it at once.
  TRY(signals_.hold({SIGHUP, SIGUSR1}));
  if (!options_.once) exit_on({SIGTERM, SIGINT});
  const Config& config = settings_.config;
  boot_ = TRY(boot_of(options_, config, clock_.now(), no_boot_id_));
  source_ = TRY(make_source(options_, config, std::move(rules), clock_));

  TRY(prepare_folder(config));
  Result<std::unique_ptr<Writer>> writer =
      open_recovering(config.db, clock_, {.durability = durability(config), .on_new_file = [this] {
                                            asio::post(loop_, [this] { source_->report_all(); });
                                          }});
  if (!writer) return writer.error();
  const std::vector<KnownProcess> known = TRY((*writer)->known_processes(boot_.boot_id));

  source_->seed(known);
  const Moment now = clock_.now();
  TRY((*writer)->visit_names(now.wall_ms - kDayMs, [&](const KnownName& name) {
    source_->seed_name(name, now.boot_ms - std::max<std::int64_t>(now.wall_ms - name.first_ms, 0));
  }));
  set_bursts();
  end_cause_ = take_end_cause(config.db);

  // SIGTERM and SIGINT are blocked before the storing thread starts, because it inherits the mask.
  TRY(stops_.hold({SIGTERM, SIGINT}));
  StorageOptions storing;
  storing.queue.ticks = static_cast<std::size_t>(config.queue_ticks);
  if (!end_cause_.empty()) storing.first_maintenance = 3 * options_.careful_step;
  storing.queue.bytes = static_cast<std::size_t>(config.queue_mib) << 20U;
  storage_ = std::make_unique<Storage>(*std::move(writer), clock_, storing, [this] {
    if (!store_answered_.exchange(true)) asio::post(loop_, [this] { on_first_answer(); });
    asio::post(loop_, [this] { alerts_.stored(storage_->counts().last_ms); });
  });
  return Done{};
}

int Daemon::run() {
  log_info(fmt::format("memoird {} ({}) records every {} into {}", version(), version_commit(),
                       format_duration(settings_.config.interval), settings_.config.db));
  set_alerts();
  if (options_.once) source_->request_all();
  if (!end_cause_.empty()) {
    costly_reads_ = CostlyReads::none;
    start_carefully();
  }
  begin_run();
  if (options_.once) return stop("once");
  await_signals();
  open_events();
  await_end();
  await_watchdog();
  while (!loop_.stopped()) log_exceptions("recorder", [this] { loop_.run(); });
  return stop(stop_reason_);
}

void Daemon::await_signals() {
  stops_.await([this](int signal) {
    log_info(fmt::format("{}: taking a last tick", signal == SIGTERM ? "SIGTERM" : "SIGINT"));
    loop_.stop();
  });
  signals_.await([this](int signal) {
    if (!tick_due_ && !reload_due_) {
      signal_timer_.expires_after(kSignalsTogether);
      signal_timer_.async_wait([this](const asio::error_code& cancelled) {
        if (!cancelled) handle_signals();
      });
    }
    (signal == SIGHUP ? reload_due_ : tick_due_) = true;
  });
}

void Daemon::handle_signals() {
  if (std::exchange(tick_due_, false)) {
    source_->request_all();
    take_tick(false, 0);
  }
  if (std::exchange(reload_due_, false)) reload();
}

void Daemon::await_slot() {
  const Moment now = clock_.now();
  const Slot slot = schedule_->next(now);
  slot_timer_.expires_after(std::chrono::milliseconds(slot.at_ms - now.wall_ms));
  slot_timer_.async_wait([this, skipped = slot.skipped, run = run_](const asio::error_code& error) {
    // A slot of the previous run may have been due already when a reload started a new one.
    if (error || run != run_) return;
    take_tick(false, skipped);
    await_slot();
    if (reload_deferred_) log_exceptions("reload", [this] { reload(); });
  });
}

// Schedules the next scan, unless scans are off or no more frequent than ticks.
void Daemon::await_scan() {
  const bool burst = burst_.running();
  const std::int64_t scan_ms = settings_.config.scan_interval.count();
  const std::int64_t every_ms = burst ? burst_scan_ms(scan_ms) : scan_ms;
  scan_timer_.cancel();
  if (every_ms == 0 || every_ms >= settings_.config.interval.count()) return;
  const std::int64_t pause_ms = scan_pause_ms(every_ms, scan_cost_us_, burst ? kBurstScanPpm : kScanPpm);
  scan_timer_.expires_after(std::chrono::milliseconds(pause_ms));
  scan_timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    log_exceptions("scan", [this] { take_scan(); });
    await_scan();
  });
}

void Daemon::take_scan() {
  const TickSource::ScanResult scan = source_->scan();
  scan_cost_us_ = scan.cost.cpu_us;
  on_scan(scan);
  urgent_ |= scan.growth || scan.oom_kill;
  take_urgent_tick();
}

// Takes an early tick if a process grows fast or the OOM killer chose a victim, no burst is running, and the last tick
// is not too recent.
void Daemon::take_urgent_tick() {
  const std::int64_t interval_ms = settings_.config.interval.count();
  if (!urgent_ || burst_.running() || !early_tick_due(clock_.now().boot_ms, last_tick_ms_, interval_ms)) return;
  note_incident();
  take_tick(false, 0);
}

// Makes the next tick read the mappings of the largest processes, due or not. These reads exceed the budget, so they
// are requested at most every 15 minutes.
void Daemon::note_incident() {
  const std::int64_t now_ms = clock_.now().boot_ms;
  if (incident_ms_ && now_ms - *incident_ms_ < kIncidentEveryMs) return;
  incident_ms_ = now_ms;
  source_->request_summaries(MappingRequest::most);
}

// Lets the loop read process events as they arrive. Without this, only scans read them, up to a second later.
void Daemon::open_events() {
  const int census_fd = source_->events_fd();
  if (census_fd < 0) return;
  // The descriptor is duplicated, because the census may close its own first.
  const int fd = ::fcntl(census_fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return log_warning(errno_error(errno, "duplicate", "the descriptor of process events").message);
  events_.assign(fd);
  await_events();
}

// Reads events early, so that fewer are lost in a flood and victims of an OOM killer are noticed at once.
void Daemon::await_events() {
  events_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (error) return;
    log_exceptions("process events", [this] {
      if (source_->take_events()) {
        urgent_ = true;
        on_burst_reason(BurstReason::oom_kill, "a process was OOM-killed");
      }
      take_urgent_tick();
    });
    if (source_->events_fd() < 0) return events_.close();
    await_events();
  });
}

// Starts work that may have ended the previous recorder step by step: tmpfs walks, mapping summaries, then maintenance.
void Daemon::start_carefully() {
  set_costly_reads();
  if (costly_reads_ == CostlyReads::all) return;
  careful_timer_.expires_after(options_.careful_step);
  careful_timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    costly_reads_ = costly_reads_ == CostlyReads::none ? CostlyReads::walks : CostlyReads::all;
    start_carefully();
  });
}

void Daemon::set_costly_reads() {
  const bool walks = costly_reads_ != CostlyReads::none;
  source_->set_tmpfs_interval(walks ? settings_.config.tmpfs_interval : std::chrono::milliseconds(0));
  source_->set_summaries(costly_reads_ == CostlyReads::all ? mapping_limits(settings_.config)
                                                           : MappingLimits{.interval_ms = 0});
}

void Daemon::await_end() {
  if (!options_.duration) return;
  end_timer_.expires_after(*options_.duration);
  end_timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    stop_reason_ = "duration";
    loop_.stop();
  });
}

// Notifies systemd's watchdog, unless the storing thread spends too long on one piece of work.
void Daemon::await_watchdog() {
  if (!watchdog_) return;
  if (std::chrono::milliseconds(storage_->busy_ms()) < *watchdog_) notifier_.send("WATCHDOG=1");
  watchdog_timer_.expires_after(*watchdog_ / 2);
  watchdog_timer_.async_wait([this](const asio::error_code& error) {
    if (!error) await_watchdog();
  });
}

void Daemon::take_tick(bool keyframe, std::int64_t skipped) {
  const std::int64_t now_ms = clock_.now().boot_ms;
  Status taken = Done{};
  try {
    taken = collect_tick(keyframe, skipped);
  } catch (const std::exception& failure) {
    taken = Error{ErrorKind::io, failure.what()};
  }
  if (taken) {
    if (collect_log_.over()) log_info("sampling works again");
  } else if (collect_log_.due(now_ms)) {
    log_error(fmt::format("cannot take a tick: {}", taken.error().message));
  }
}

Status Daemon::collect_tick(bool keyframe, std::int64_t skipped) {
  const Moment now = clock_.now();
  keyframe = keyframe || keyframe_due(now.wall_ms, last_keyframe_ms_, options_.keyframe_every.count());
  Tick tick = TRY(source_->collect(keyframe));
  if (keyframe) last_keyframe_ms_ = tick.begin.wall_ms;
  last_tick_ms_ = tick.begin.boot_ms;
  urgent_ = false;
  tick.skipped = skipped;
  if (memory_due_ms_ <= tick.begin.boot_ms) {
    memory_due_ms_ = tick.begin.boot_ms + kMemoryEveryMs;
    tick.recorder_memory = measure_self(sqlite_memory_bytes());
  }
  if (skipped > 0) log_debug(fmt::format("{} slots skipped", skipped));
  const Cost cost = tick.total;
  tick_cost_us_ = cost.cpu_us;
  report_suspension();
  on_machine(tick);
  alerts_.see(tick);
  storage_->push(std::move(tick));
  for (const Event& happened : source_->events()) {
    log_warning(happened.text);
    storage_->push(happened);
  }
  if (!access_reported_) report_access();
  asio::post(loop_, [this] { follow_census(); });
  report_status(now, cost);
  return Done{};
}

// The kernel log names the victims; without it, only the counters of the cgroups are known.
void Daemon::report_oom_kills(const Tick& tick) {
  for (const OomVictim& victim : tick.oom_victims) {
    if (!victim.killed()) continue;
    log_message(LogLevel::warning, oom_kill_text(victim), message_id::kOomKill,
                {{"MEMOIR_PID", fmt::format("{}", victim.pid)},
                 {"MEMOIR_COMM", to_printable(victim.comm)},
                 {"MEMOIR_CGROUP", to_printable(victim.cgroup)}});
  }
  if (!tick.oom_victims.empty()) return;
  for (const OomKills& kills : tick.oom_kills) {
    const std::string cgroup = to_printable(kills.cgroup);
    log_message(LogLevel::warning, fmt::format("OOM kills in or below {}: {}", cgroup, kills.count),
                message_id::kOomKill, {{"MEMOIR_CGROUP", cgroup}});
  }
}

void Daemon::report_access() {
  access_reported_ = true;
  if (!end_cause_.empty()) {
    log_warning(end_cause_);
    event("unclean", std::exchange(end_cause_, {}));
  }
  report_degraded(source_->access().note);
  report_degraded(no_trigger_);
  report_degraded(no_boot_id_);
  report_degraded(alerts_.lack());
  const Result<std::string> remote = remote_file_system_of(settings_.config.db);
  if (!remote || remote->empty()) return;
  report_degraded(
      fmt::format("{} is on {}: the write-ahead log needs shared memory, which network file systems do not have. "
                  "Record to a local disk, and copy the file.",
                  settings_.config.db, *remote));
}

// Starts another run if the census by BPF has failed, because each run has one kind of census. The new run reports the
// reason. As with a reload, only one end of a run may wait to be stored.
void Daemon::follow_census() {
  if (source_->access().census == census_ || storage_->run_end_waiting()) return;
  storage_->push(RunEnd{.at = clock_.now(), .reason = "census"});
  begin_run();
}

void Daemon::report_degraded(const std::string& note) {
  if (note.empty()) return;
  log_message(LogLevel::warning, note, message_id::kDegraded, {{"MEMOIR_DB", settings_.config.db}});
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
  // The recorder is ready even if the store failed: it records into the queue, and systemd must not kill it for a late
  // start.
  notifier_.send("READY=1");
  trim_memory();
}

void Daemon::begin_run() {
  const Moment now = clock_.now();
  const std::int64_t interval_ms = settings_.config.interval.count();
  storage_->push(RunInfo{.boot = boot_,
                         .pid = getpid(),
                         .version = fmt::format("{} ({})", version(), version_commit()),
                         .interval_ms = interval_ms,
                         .started = now,
                         .retention = retention(settings_.config),
                         .census = source_->access().census});
  census_ = source_->access().census;
  access_reported_ = false;
  last_keyframe_ms_ = 0;
  memory_due_ms_ = 0;
  schedule_.emplace(interval_ms, now);
  ++run_;
  take_tick(true, 0);
  await_slot();
  await_scan();
}

void Daemon::set_alerts() {
  if (options_.once) return;
  const std::string before = alerts_.lack();
  alerts_.set(settings_.config, settings_.config_found ? settings_.config_path : "");
  // At the start of a run, report_access() reports the lack with the other degraded modes.
  if (const std::string lack = alerts_.lack(); access_reported_ && lack != before) report_degraded(lack);
}

int Daemon::stop(const std::string& reason) {
  notifier_.send("STOPPING=1");
  alerts_.stop();
  if (!options_.once) take_tick(true, 0);
  if (burst_.running()) end_burst();
  storage_->push(RunEnd{.at = clock_.now(), .reason = reason});
  const Finish finish = storage_->finish();
  if (finish == Finish::abandoned) std::_Exit(EXIT_FAILURE);
  const StorageCounts counts = storage_->counts();
  log_info(fmt::format("stopped ({}): {} ticks stored, {} dropped", reason, counts.stored, counts.dropped));
  return finish == Finish::stored && counts.stored > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

void Daemon::event(const char* kind, std::string text) {
  storage_->push(Event{.at = clock_.now(), .kind = kind, .text = std::move(text)});
}

}  // namespace memoir
