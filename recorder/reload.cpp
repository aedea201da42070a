// SIGHUP: what changes at once, what begins a new run, what takes a restart.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <vector>

#include "base/log.h"
#include "recorder/daemon.h"

namespace memoir {
namespace {

// What takes a restart to change stays in `after` as it is in `before`. The keys of those that were to change.
std::string keep_until_restart(const Config& before, Config& after) {
  std::vector<const char*> keys;
  const auto keep = [&](const char* key, auto Config::*member) {
    if (before.*member == after.*member) return;
    after.*member = before.*member;
    keys.push_back(key);
  };
  keep("db", &Config::db);
  keep("durability", &Config::durability);
  keep("read_deadline", &Config::read_deadline);
  keep("queue_ticks", &Config::queue_ticks);
  keep("queue_mib", &Config::queue_mib);
  keep("max_command_bytes", &Config::max_command_bytes);
  keep("source", &Config::source);
  keep("vmmap", &Config::vmmap);
  keep("ps", &Config::ps);
  keep("deadline", &Config::vmmap_deadline);
  keep("group", &Config::vmmap_group);
  keep("container_names", &Config::container_names);
  return fmt::format("{}", fmt::join(keys, ", "));
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
  const std::string restart = keep_until_restart(before, settings.config);
  if (!restart.empty()) log_warning(fmt::format("a restart is needed for the change of {}", restart));
  settings_ = std::move(settings);
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
