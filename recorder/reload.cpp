// SIGHUP: what changes at once, what begins a new run, what takes a restart.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <vector>

#include "base/log.h"
#include "recorder/daemon.h"

namespace memoir {
namespace {

std::string need_restart(const Config& before, const Config& after) {
  std::vector<const char*> keys;
  if (before.db != after.db) keys.push_back("db");
  if (before.durability != after.durability) keys.push_back("durability");
  if (before.read_deadline != after.read_deadline) keys.push_back("read_deadline");
  if (before.queue_ticks != after.queue_ticks) keys.push_back("queue_ticks");
  if (before.queue_mib != after.queue_mib) keys.push_back("queue_mib");
  if (before.max_command_bytes != after.max_command_bytes) keys.push_back("max_command_bytes");
  if (before.source != after.source) keys.push_back("source");
  if (before.vmmap != after.vmmap) keys.push_back("vmmap");
  if (before.ps != after.ps) keys.push_back("ps");
  if (before.vmmap_deadline != after.vmmap_deadline) keys.push_back("deadline");
  if (before.vmmap_group != after.vmmap_group) keys.push_back("group");
  if (before.container_names != after.container_names) keys.push_back("container_names");
  return fmt::format("{}", fmt::join(keys, ", "));
}

// `after` in what can change while we run, `before` in the rest.
Config changeable(const Config& before, const Config& after) {
  Config config = before;
  config.interval = after.interval;
  config.look = after.look;
  config.burst = after.burst;
  config.raw = after.raw;
  config.five_minutes = after.five_minutes;
  config.hours = after.hours;
  config.days = after.days;
  config.max_size = after.max_size;
  config.budget_cpu_ppm = after.budget_cpu_ppm;
  config.mappings_interval = after.mappings_interval;
  config.mappings_processes = after.mappings_processes;
  config.mappings_labels = after.mappings_labels;
  config.mappings_budget = after.mappings_budget;
  config.tmpfs_interval = after.tmpfs_interval;
  config.alert_exec = after.alert_exec;
  config.alert_pressure_ppm = after.alert_pressure_ppm;
  config.alert_leak = after.alert_leak;
  config.alert_every = after.alert_every;
  config.alert_timeout = after.alert_timeout;
  config.leaks_hour = after.leaks_hour;
  config.log_level = after.log_level;
  config.categories = after.categories;
  config.default_categories = after.default_categories;
  config.redaction = after.redaction;
  return config;
}

std::string kept_text(const Config& config) {
  return fmt::format("ticks {}, 5 minutes {}, hours {}, days {}, in at most {}", print_age(config.raw),
                     print_age(config.five_minutes), print_age(config.hours), print_age(config.days),
                     print_bytes(config.max_size));
}

}  // namespace

void Daemon::reload() {
  // Each run has one configuration. As long as the end of one waits to be stored, no further one is begun, so that a
  // store that is out of order for long does not let them pile up.
  reload_put_off_ = storage_->run_end_waiting();
  if (reload_put_off_) {
    log_warning("the last change of configuration is not stored yet: reloads when it is");
    return;
  }
  notifier_.send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", steady_us()));
  Result<Settings> settings = load_settings(options_);
  Result<Rules> rules = settings ? make_rules(*settings) : Result<Rules>(settings.error());
  if (!rules) {
    log_error(fmt::format("keeps the configuration it has: {}", rules.error().message));
    event("reload", fmt::format("refused, the old configuration was kept: {}", rules.error().message));
  } else {
    change_to(*std::move(settings), *std::move(rules));
  }
  if (store_answered_) notifier_.send("READY=1");
}

void Daemon::change_to(Settings settings, Rules rules) {
  const Config before = settings_.config;
  const std::string restart = need_restart(before, settings.config);
  if (!restart.empty()) log_warning(fmt::format("a restart is needed for the change of {}", restart));
  settings_ = std::move(settings);
  settings_.config = changeable(before, settings_.config);
  const Config& now = settings_.config;
  log_level(to_log_level(now));
  source_->set_read_share(now.budget_cpu_ppm);
  source_->set_large_end(now.exits_large / 1024);
  source_->set_ledgers(ledger_limits(now));
  source_->set_tmpfs_interval(now.tmpfs_interval);
  set_bursts();
  set_alerts();
  await_look();
  const bool new_rules = !same_rules(before, now);
  const bool new_retention = retention(before) != retention(now);
  if (!new_rules && !new_retention && before.interval == now.interval) {
    log_info("reloaded: nothing that begins a new run has changed");
    return;
  }
  take_tick(true, 0);
  storage_->push(RunEnd{.at = clock_.now(), .reason = "reload"});
  if (new_rules) source_->set_rules(std::move(rules.categoriser), std::move(rules.redactor));
  source_->set_store_bytes(now.max_size);
  begin_run();
  const std::string what = fmt::format("every {}{}{}", print_duration(now.interval), new_rules ? ", new rules" : "",
                                       new_retention ? ", keeps " + kept_text(now) : "");
  event("reload", what + (restart.empty() ? "" : "; a restart is needed for " + restart));
  log_info("reloaded: " + what);
}

}  // namespace memoir
