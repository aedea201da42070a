#include "recorder/alert/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/text.h"
#include "model/cgroup_level.h"
#include "model/kill_text.h"

namespace memoir {
namespace {

constexpr std::array kReasons{"oom-kill", "pressure", "leak", "leak-confirmed", "limit", "tmpfs", "swap"};
static_assert(kReasons.size() == static_cast<std::size_t>(AlertReason::count_));

constexpr std::int64_t kPpmInBasisPoint = 100;
constexpr std::size_t kLeaksNamed = 3;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr double kMillion = 1e6;
// A level counts as low below this share of the configured threshold.
constexpr double kLowShare = 0.9;
// The cgroup's counter and the kernel log report a kill up to two ticks after the machine's counter.
constexpr int kNameTicks = 2;
// Any user may create many cgroups. Beyond this number, further cgroups cause no alerts within every_ms.
constexpr std::size_t kMaxCgroups = 100;

// Makes one alert for all victims in a cgroup. If no victims are known, makes one for each cgroup that counted a kill.
std::vector<Alert> kills_of(const Tick& tick) {
  std::vector<Alert> alerts;
  std::map<std::string_view, std::int64_t> victims;  // number of victims in each cgroup
  for (const OomVictim& victim : tick.oom_victims) {
    if (!victim.killed() || ++victims[victim.cgroup] > 1) continue;
    alerts.push_back({AlertReason::oom_kill, victim.at_ms, tick.begin.boot_ms, oom_kill_text(victim), victim.cgroup});
  }
  for (Alert& alert : alerts) {
    const std::int64_t others = victims[alert.subject] - 1;
    alert.text += others > 0 ? fmt::format("; and {} more.", others) : ".";
  }
  if (!alerts.empty()) return alerts;
  for (const OomKills& kills : tick.oom_kills) {
    alerts.push_back({AlertReason::oom_kill, tick.begin.wall_ms, tick.begin.boot_ms,
                      fmt::format("OOM kill in {}.", cgroup_title(kills.cgroup)), kills.cgroup});
  }
  return alerts;
}

std::string span(std::int64_t ms) {
  const std::int64_t minutes = ms / kMinuteMs;
  if (minutes < 1) return "a minute";
  if (minutes < 120) return fmt::format("{} min", minutes);
  return minutes < 48 * 60 ? fmt::format("{} h", minutes / 60) : fmt::format("{} d", minutes / (24 * 60));
}

std::string format_mib(std::int64_t kib) {
  return fmt::format("{:.0f} MiB", static_cast<double>(kib) / 1024);
}

std::string leak_words(AlertReason reason, const Forecast& leak) {
  const std::string name = to_printable(leak.title);
  if (reason == AlertReason::leak)
    return fmt::format("{} leaks and will exhaust {} within {}", name, to_printable(leak.limit), span(*leak.in_ms));
  const std::string rate = leak.kib_per_day ? fmt::format(" {} a day", format_mib(*leak.kib_per_day)) : "";
  return fmt::format("{} has been leaking{} for more than a day", name, rate);
}

std::string leak_text(AlertReason reason, const std::vector<const Forecast*>& leaks) {
  std::string text;
  for (const Forecast* leak : leaks) {
    if (!text.empty()) text += "; ";
    if (leaks.size() > kLeaksNamed && leak == leaks[kLeaksNamed]) {
      text += fmt::format("and {} more", leaks.size() - kLeaksNamed);
      break;
    }
    text += fmt::format("{} (confidence {} of 100)", leak_words(reason, *leak), leak->confidence);
  }
  return text + '.';
}

}  // namespace

std::string_view to_string(AlertReason reason) {
  return kReasons.at(static_cast<std::size_t>(reason));
}

std::string oom_kill_text(const OomVictim& victim) {
  std::string text = kill_sentence(victim, {.size = format_mib});
  const bool elsewhere = victim.detail && victim.detail->limit_cgroup.empty() && !victim.cgroup.empty();
  if (elsewhere) text += "; it ran in " + cgroup_title(victim.cgroup);
  if (victim.held_kib) text += "; its last RSS was " + format_mib(*victim.held_kib);
  return text;
}

std::vector<Alert> AlertRules::see(const Tick& tick) {
  std::vector<Alert> due;
  const bool unattributed = was_unattributed_kill(tick);
  if (!limits_.on) return due;
  add_kills(tick, unattributed, due);
  const auto waited_bp = tick.machine.memory.get(MachineField::psi_some_avg60);
  const bool is_high = waited_bp && *waited_bp * kPpmInBasisPoint >= limits_.pressure_ppm;
  if (limits_.pressure_ppm > 0 && is_high && !rests(pressure_ms_, tick.begin.boot_ms)) {
    pressure_ms_ = tick.begin.boot_ms;
    due.push_back(
        {AlertReason::pressure, tick.begin.wall_ms, tick.begin.boot_ms,
         fmt::format("Tasks waited for memory {:.0f}% of the last minute.", static_cast<double>(*waited_bp) / 100)});
  }
  add_levels(AlertReason::limit, limits_.limit_ppm, cgroup_levels(tick), tick, due);
  if (tick.tmpfs) add_levels(AlertReason::tmpfs, limits_.tmpfs_ppm, tmpfs_levels(*tick.tmpfs), tick, due);
  add_levels(AlertReason::swap, limits_.swap_ppm, swap_levels(tick.machine.memory), tick, due);
  return due;
}

std::optional<Alert> AlertRules::see(const std::vector<Forecast>& forecasts, const Moment& at) {
  if (!limits_.on || (limits_.leak_ms == 0 && !limits_.leak_confirmed)) return std::nullopt;
  const auto expire = [&](Times& reported) {
    std::erase_if(reported, [&](const auto& last) { return at.boot_ms - last.second >= limits_.leak_every_ms; });
  };
  expire(leaks_ms_);
  std::vector<const Forecast*> soon;
  std::vector<const Forecast*> confirmed;
  for (const Forecast& leak : forecasts) {
    const auto reported = confirmed_ms_.find(leak.subject);
    if (reported != confirmed_ms_.end()) reported->second = at.boot_ms;
    if (leak.in_ms && *leak.in_ms <= limits_.leak_ms && !leaks_ms_.contains(leak.subject)) {
      soon.push_back(&leak);
    } else if (limits_.leak_confirmed && leak.confirmed && reported == confirmed_ms_.end() &&
               !leaks_ms_.contains(leak.subject)) {
      confirmed.push_back(&leak);
    }
  }
  expire(confirmed_ms_);
  if (rests(leak_ms_, at.boot_ms)) return std::nullopt;
  if (!soon.empty()) return leak_alert(AlertReason::leak, soon, leaks_ms_, at);
  return confirmed.empty() ? std::nullopt : leak_alert(AlertReason::leak_confirmed, confirmed, confirmed_ms_, at);
}

std::optional<Alert> AlertRules::leak_alert(AlertReason reason, const std::vector<const Forecast*>& leaks,
                                            Times& reported, const Moment& at) {
  for (const Forecast* leak : leaks) reported.emplace(leak->subject, at.boot_ms);
  leak_ms_ = at.boot_ms;
  return Alert{reason, at.wall_ms, at.boot_ms, leak_text(reason, leaks), leaks.front()->title, leaks.front()->limit};
}

void AlertRules::add_levels(AlertReason reason, std::int64_t ppm, const Levels& levels, const Tick& tick,
                            std::vector<Alert>& due) {
  Times& high = high_[reason];
  const auto reaches = [ppm](const Level& level, double share) {
    return kMillion * static_cast<double>(level.used_kib) >=
           share * static_cast<double>(ppm) * static_cast<double>(level.limit_kib);
  };
  const std::int64_t now_ms = tick.begin.boot_ms;
  // The largest entries of a full mount are read in the next tick, so the alert waits for that.
  const std::int64_t known_ms = reason == AlertReason::tmpfs ? now_ms + 1 : now_ms;
  std::erase_if(high, [&](const auto& last) {
    const auto level = std::ranges::find(levels, last.first, &Level::subject);
    return !rests(last.second, now_ms) && (level == levels.end() || !reaches(*level, kLowShare));
  });
  for (const Level& level : levels) {
    if (ppm == 0 || !reaches(level, 1) || (reason == AlertReason::limit && kills_ms_.contains(level.subject))) continue;
    if (high.size() >= kMaxCgroups || !high.try_emplace(level.subject, now_ms).second) continue;
    due.push_back({reason, tick.begin.wall_ms, known_ms,
                   fmt::format("{}: {} of {} in use, {:.0f}%.", level.name, format_mib(level.used_kib),
                               format_mib(level.limit_kib),
                               100 * static_cast<double>(level.used_kib) / static_cast<double>(level.limit_kib)),
                   level.subject});
  }
}

AlertRules::Levels AlertRules::tmpfs_levels(const std::vector<TmpfsSample>& mounts) {
  Levels levels;
  for (const TmpfsSample& mount : mounts) {
    if (mount.limit_kib.value_or(0) > 0 && mount.used_kib)
      levels.push_back(
          {mount.mount_point, "tmpfs " + to_printable(mount.mount_point), *mount.used_kib, *mount.limit_kib});
  }
  return levels;
}

AlertRules::Levels AlertRules::swap_levels(const MachineMemory& memory) {
  const auto total_kib = memory.get(MachineField::swap_total);
  const auto free_kib = memory.get(MachineField::swap_free);
  if (total_kib.value_or(0) == 0 || !free_kib) return {};
  return {{"", "Swap", *total_kib - *free_kib, *total_kib}};
}

AlertRules::Levels AlertRules::cgroup_levels(const Tick& tick) const {
  Levels levels;
  if (limits_.limit_ppm == 0) return levels;
  for (const CgroupSample& cgroup : tick.cgroups) {
    if (const auto limit_kib = lower_limit_kib(cgroup); limit_kib.value_or(0) > 0)
      levels.push_back({cgroup.path, cgroup_title(cgroup.path), without_cache_kib(cgroup), *limit_kib});
  }
  return levels;
}

bool AlertRules::rests(const std::optional<std::int64_t>& last_ms, std::int64_t now_ms) const {
  return last_ms && now_ms - *last_ms < limits_.every_ms;
}

void AlertRules::add_kills(const Tick& tick, bool unattributed, std::vector<Alert>& due) {
  std::vector<Alert> kills = kills_of(tick);
  if (!kills.empty()) {
    unnamed_.reset();
    for (Alert& alert : kills) add_kill(std::move(alert), due);
  } else if (unnamed_) {
    if (--unnamed_ticks_ == 0) add_kill(*std::exchange(unnamed_, std::nullopt), due);
  } else if (unattributed) {
    unnamed_ = {AlertReason::oom_kill, tick.begin.wall_ms, tick.begin.boot_ms, "OOM kill, cgroup unknown."};
    unnamed_ticks_ = kNameTicks;
  }
}

void AlertRules::add_kill(Alert alert, std::vector<Alert>& due) {
  std::erase_if(kills_ms_, [&](const auto& last) { return !rests(last.second, alert.tick_ms); });
  if (kills_ms_.size() >= kMaxCgroups || !kills_ms_.try_emplace(alert.subject, alert.tick_ms).second) return;
  due.push_back(std::move(alert));
}

bool AlertRules::was_unattributed_kill(const Tick& tick) {
  const auto now = tick.machine.memory.get(MachineField::oom_kill);
  if (!now) return false;
  const auto before = std::exchange(kills_, now);
  return before && *now >= *before && unattributed_kills(*now - *before, tick, kills_ahead_) > 0;
}

}  // namespace memoir
