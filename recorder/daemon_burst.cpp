// Daemon: detects reasons for bursts and takes the ticks of bursts. burst.h decides when bursts start and end.

#include <fmt/format.h>

#include <asio/post.hpp>

#include "base/log.h"
#include "base/text.h"
#include "proc/proc_fs.h"
#include "recorder/daemon.h"

namespace memoir {
namespace {

constexpr std::int64_t kStepMs = 1'000;

std::string in_mib(std::int64_t kib) {
  return fmt::format("{:.0f} MiB", static_cast<double>(kib) / 1024);
}

std::string seconds(std::int64_t ms) {
  return fmt::format("{:.0f} s", static_cast<double>(ms) / 1000);
}

}  // namespace

// Opens or closes the pressure trigger, which costs nothing while no process waits for memory. A /proc tree given by
// --proc has none.
void Daemon::set_bursts() {
  bursts_ = !options_.once && settings_.config.burst == "on" && settings_.config.source == "proc";
  const std::string before = std::exchange(no_trigger_, {});
  if (!bursts_) {
    if (burst_.running()) end_burst();
    pressure_.close();
    return;
  }
  if (pressure_.is_open() || options_.proc != ProcFs().root()) return;
  Result<Fd> trigger = ProcFs(options_.proc).open_pressure_trigger(kStallUs, kStallWindowUs);
  if (trigger) {
    pressure_.assign(trigger->release());
    return await_pressure();
  }
  // A missing pressure file is already reported as a degraded mode.
  if (trigger.error().kind == ErrorKind::not_found) return;
  no_trigger_ = fmt::format(
      "No pressure trigger ({}): scans and ticks detect pressure up to one interval later. Older kernels let only root "
      "set a trigger.",
      trigger.error().message);
  if (access_reported_ && no_trigger_ != before) report_degraded(no_trigger_);
}

void Daemon::await_pressure() {
  // wait_error waits for POLLPRI.
  pressure_.async_wait(asio::posix::stream_descriptor::wait_error, [this](const asio::error_code& error) {
    if (error) return;
    log_exceptions("memory pressure", [this] {
      on_burst_reason(BurstReason::pressure,
                      fmt::format("processes waited for memory for at least {} ms of 2 s", kStallUs / 1000));
    });
    await_pressure();
  });
}

void Daemon::on_scan(const TickSource::ScanResult& scan) {
  if (scan.oom_kill) on_burst_reason(BurstReason::oom_kill, "a process was OOM-killed");
  if (const auto& growth = scan.growth) {
    on_burst_reason(BurstReason::growth, fmt::format("{} ({}) grew from {} to {}", to_printable(growth->name),
                                                     growth->pid, in_mib(growth->before_kib), in_mib(growth->now_kib)));
  }
  if (scan.available_kib) on_available(clock_.now().boot_ms, *scan.available_kib);
}

void Daemon::on_machine(const Tick& tick) {
  const MachineMemory before = std::exchange(machine_, tick.machine.memory);
  const std::int64_t elapsed_ms = tick.begin.boot_ms - std::exchange(machine_ms_, tick.begin.boot_ms);
  report_oom_kills(tick);
  if (!tick.oom_kills.empty()) {
    note_incident();
    on_burst_reason(BurstReason::oom_kill, "there was an OOM kill");
  }
  const bool first = elapsed_ms == tick.begin.boot_ms;
  if (!pressure_.is_open() && !first && stalls(before, machine_, elapsed_ms)) {
    on_burst_reason(BurstReason::pressure, "processes waited for memory since the previous tick");
  }
  if (const auto kib = machine_.get(MachineField::mem_available)) on_available(tick.begin.boot_ms, *kib);
}

void Daemon::on_available(std::int64_t at_ms, std::int64_t kib) {
  const auto total_kib = machine_.get(MachineField::mem_total);
  if (!bursts_ || !total_kib) return;
  const auto left_ms = shortage_.see(at_ms, kib, *total_kib);
  if (!left_ms) return;
  on_burst_reason(BurstReason::shortage, fmt::format("{} of {} are available, and will be used up in {} at this rate",
                                                     in_mib(kib), in_mib(*total_kib), seconds(*left_ms)));
}

void Daemon::on_burst_reason(BurstReason reason, const std::string& why) {
  if (!bursts_) return;
  const std::int64_t now_ms = clock_.now().boot_ms;
  Burst::Change change = burst_.see(now_ms, reason);
  if (change == Burst::Change::ended) {
    report_end();
    change = burst_.see(now_ms, reason);
  }
  if (change == Burst::Change::started) begin_burst(why);
}

void Daemon::begin_burst(const std::string& why) {
  log_info("burst started: " + why);
  event("burst", "Started: " + why);
  source_->set_burst(true);
  note_incident();
  await_scan();
  await_burst_step();
  // Posted, because the tick that caused the burst may not be queued yet.
  asio::post(loop_, [this] {
    if (burst_.running()) take_burst_tick();
  });
}

void Daemon::end_burst() {
  burst_.end(clock_.now().boot_ms);
  report_end();
}

void Daemon::report_end() {
  const std::string length = seconds(burst_.length_ms());
  const std::string reasons = burst_.reasons();
  log_info(fmt::format("burst ended after {}: {}", length, reasons));
  event("burst", fmt::format("Ended after {}: {}", length, reasons));
  source_->set_burst(false);
  burst_timer_.cancel();
  await_scan();
}

// Schedules the next step of a burst: on each second of the wall clock, like slots.
void Daemon::await_burst_step() {
  const std::int64_t at_ms = clock_.now().wall_ms;
  const std::int64_t next_ms = (at_ms / kStepMs + 1) * kStepMs;
  burst_timer_.expires_after(std::chrono::milliseconds(next_ms - at_ms));
  burst_timer_.async_wait([this, slot = next_ms % settings_.config.interval.count() == 0](const auto& error) {
    if (error || !burst_.running()) return;
    if (burst_.see(clock_.now().boot_ms) == Burst::Change::ended) return report_end();
    if (!slot) take_burst_tick();  // take_burst_tick() logs its exceptions
    await_burst_step();
  });
}

void Daemon::take_burst_tick() {
  const std::int64_t tick_ms = burst_tick_ms(settings_.config.interval.count());
  if (tick_ms > 0 && burst_tick_due(clock_.now().boot_ms, last_tick_ms_, tick_ms, tick_cost_us_)) take_tick(false, 0);
}

}  // namespace memoir
