// Daemon: applies a changed configuration on SIGHUP. A change takes effect at once, with a new run, or after a restart.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <vector>

#include "base/log.h"
#include "recorder/daemon.h"

namespace memoir {
namespace {

// Copies settings that need a restart from `before` to `after`. Returns the keys of the settings that had changed.
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
  return fmt::format("ticks {}, 5 minutes {}, hours {}, days {}, in at most {}", format_age(config.raw),
                     format_age(config.five_minutes), format_age(config.hours), format_age(config.days),
                     format_bytes(config.max_size));
}

}  // namespace

void Daemon::reload() {
  // Each run has one configuration. While the end of a run waits to be stored, no further run starts. Otherwise runs
  // would pile up during a long failure of the store.
  reload_deferred_ = storage_->run_end_waiting();
  if (reload_deferred_) {
    log_warning("the previous change of the configuration is not stored yet: the reload waits until it is");
    return;
  }
  notifier_.send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", steady_us()));
  Result<Settings> settings = load_settings(options_);
  Result<Rules> rules = settings ? make_rules(*settings) : Result<Rules>(settings.error());
  if (!rules) {
    log_error(fmt::format("cannot reload; the old configuration stays in effect: {}", rules.error().message));
    event("reload", fmt::format("refused, the old configuration was kept: {}", rules.error().message));
  } else {
    change_to(*std::move(settings), *std::move(rules));
  }
  if (store_answered_) notifier_.send("READY=1");
}

void Daemon::change_to(Settings settings, Rules rules) {
  const Config before = settings_.config;
  const std::string restart = keep_until_restart(before, settings.config);
  if (!restart.empty()) log_warning(fmt::format("a restart is needed to change {}", restart));
  settings_ = std::move(settings);
  const Config& now = settings_.config;
  log_level(to_log_level(now));
  source_->set_read_share(now.budget_cpu_ppm);
  source_->set_min_exit_peak(now.exits_min_peak / 1024);
  set_costly_reads();
  set_bursts();
  set_alerts();
  await_scan();
  const bool new_rules = !same_rules(before, now);
  const bool new_retention = retention(before) != retention(now);
  if (!new_rules && !new_retention && before.interval == now.interval) {
    log_info("reloaded: no change needs a new run");
    return;
  }
  take_tick(true, 0);
  storage_->push(RunEnd{.at = clock_.now(), .reason = "reload"});
  if (new_rules) source_->set_rules(std::move(rules.categoriser), std::move(rules.redactor));
  source_->set_store_bytes(now.max_size);
  begin_run();
  const std::string what = fmt::format("every {}{}{}", format_duration(now.interval), new_rules ? ", new rules" : "",
                                       new_retention ? ", keeps " + kept_text(now) : "");
  event("reload", what + (restart.empty() ? "" : "; a restart is needed for " + restart));
  log_info("reloaded: " + what);
}

}  // namespace memoir
