#pragma once

// The running recorder: one Asio loop on the main thread that makes ticks, receives signals and notifies systemd, and
// passes its data to the storing thread.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "collect/tick_source.h"
#include "recorder/alert/alerts.h"
#include "recorder/burst.h"
#include "recorder/log_throttle.h"
#include "recorder/notify.h"
#include "recorder/options.h"
#include "recorder/schedule.h"
#include "recorder/settings.h"
#include "recorder/shortage.h"
#include "recorder/signals.h"
#include "recorder/storage.h"
#include "recorder/suspension.h"

namespace memoir {

class Daemon {
 public:
  Daemon(RecorderOptions options, Settings settings);

  // Opens the store and starts the storing thread. After an error, nothing was recorded.
  Status start(Rules rules);

  // Records until a signal or the options end it. Returns the exit status.
  int run();

 private:
  void await_signals();
  void handle_signals();
  void await_slot();
  void await_scan();
  void open_events();
  void await_events();
  void await_end();
  void start_carefully();
  void set_costly_reads();
  void await_watchdog();

  // Takes a tick and queues it. Errors and exceptions are only logged, so that the next tick is tried.
  void take_tick(bool keyframe, std::int64_t skipped);
  Status collect_tick(bool keyframe, std::int64_t skipped);
  void take_scan();
  void take_urgent_tick();
  void take_burst_tick();
  void note_incident();

  void set_bursts();
  void await_pressure();
  void await_burst_step();
  void on_scan(const TickSource::ScanResult& scan);
  void on_machine(const Tick& tick);
  void on_available(std::int64_t at_ms, std::int64_t kib);
  void on_burst_reason(BurstReason reason, const std::string& why);
  void begin_burst(const std::string& why);
  void end_burst();
  void report_end();

  void report_oom_kills(const Tick& tick);
  void report_access();
  void follow_census();
  void report_degraded(const std::string& note);
  void report_suspension();
  void report_status(const Moment& now, const Cost& cost);
  void on_first_answer();

  void set_alerts();

  void reload();
  void change_to(Settings settings, Rules rules);
  void begin_run();
  int stop(const std::string& reason);

  void event(const char* kind, std::string text);

  const RecorderOptions options_;
  Settings settings_;
  const SystemClock clock_;
  const Notifier notifier_ = Notifier::from_environment();
  const std::optional<std::chrono::microseconds> watchdog_ = watchdog_period();

  asio::io_context loop_{1};
  // Signals to stop are read separately, so that a flood of other signals does not delay them.
  Signals stops_{loop_};    // SIGTERM, SIGINT
  Signals signals_{loop_};  // SIGHUP, SIGUSR1
  asio::steady_timer signal_timer_{loop_};
  asio::steady_timer slot_timer_{loop_};
  asio::steady_timer scan_timer_{loop_};
  asio::steady_timer burst_timer_{loop_};  // runs only during a burst
  asio::posix::stream_descriptor events_{loop_};
  asio::posix::stream_descriptor pressure_{loop_};  // the pressure trigger; closed if there is none
  asio::steady_timer end_timer_{loop_};
  asio::steady_timer watchdog_timer_{loop_};
  asio::steady_timer careful_timer_{loop_};
  // Enabled reads that a tick does not need: none, walks of tmpfs mounts, or also reads of mappings. After a recorder
  // was killed, its successor enables them step by step; otherwise all are enabled.
  enum class CostlyReads : std::uint8_t { none, walks, all };
  CostlyReads costly_reads_ = CostlyReads::all;

  BootInfo boot_;
  std::unique_ptr<TickSource> source_;
  std::optional<Schedule> schedule_;
  int run_ = 0;                              // counts the started runs
  std::int64_t last_keyframe_ms_ = 0;        // 0: none in this run
  std::int64_t last_tick_ms_ = 0;            // boot clock, time of the last tick
  std::int64_t memory_due_ms_ = 0;           // boot clock; next time to store our own memory
  std::int64_t tick_cost_us_ = 0;            // CPU time of the last tick
  std::int64_t scan_cost_us_ = 0;            // CPU time of the last scan
  std::optional<std::int64_t> incident_ms_;  // boot clock; last time that note_incident() requested mappings
  std::string no_boot_id_;                   // why the boot id is unreadable; empty if it is known
  std::string end_cause_;                    // why the previous recorder ended; empty after a clean end, or if unknown
  std::string no_trigger_;  // why there is no pressure trigger; empty if there is one or none is needed
  Burst burst_;
  Shortage shortage_;
  MachineMemory machine_;        // machine memory at the last tick
  std::int64_t machine_ms_ = 0;  // boot clock; time of that tick
  std::string census_;           // census in use in this run
  Suspension suspension_;
  bool urgent_ = false;  // an early tick was requested since the last tick
  bool bursts_ = false;
  bool access_reported_ = false;  // degraded modes of this run were reported
  bool reload_due_ = false;
  bool tick_due_ = false;
  bool reload_deferred_ = false;
  std::int64_t status_reported_ms_ = 0;
  LogThrottle collect_log_;
  std::string stop_reason_ = "stopped";
  std::atomic<bool> store_answered_{false};
  Alerts alerts_{loop_, clock_, [this](const char* kind, std::string text) { event(kind, std::move(text)); }};

  // Last member, so that it is destroyed first: its thread calls back into the loop.
  std::unique_ptr<Storage> storage_;
};

}  // namespace memoir
