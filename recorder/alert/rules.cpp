#include "recorder/alert/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"

namespace memoir {
namespace {

constexpr std::array kReasons{"oom-kill", "pressure", "leak"};
static_assert(kReasons.size() == static_cast<std::size_t>(AlertReason::count_));

constexpr std::int64_t kPpmInBasisPoint = 100;
constexpr std::size_t kLeaksNamed = 3;
constexpr std::int64_t kMinuteMs = 60'000;

// `untold`: beside those of the tick there was one.
std::optional<Alert> oom_kill(const Tick& tick, bool untold) {
  const auto& victims = tick.oom_victims;
  if (const auto first = std::ranges::find_if(victims, &OomVictim::killed); first != victims.end()) {
    const auto others = std::ranges::count_if(victims, &OomVictim::killed) - 1;
    const std::string more = others > 0 ? fmt::format("; and {} more", others) : "";
    return Alert{AlertReason::oom_kill, first->at_ms, tick.begin.boot_ms, oom_kill_text(*first) + more + '.'};
  }
  if (tick.oom_kills.empty() && !untold) return std::nullopt;
  const std::string where =
      tick.oom_kills.empty() ? "; in which cgroup is not known" : " in " + to_printable(tick.oom_kills.front().cgroup);
  return Alert{AlertReason::oom_kill, tick.begin.wall_ms, tick.begin.boot_ms,
               fmt::format("There was an OOM kill{}.", where)};
}

std::string span(std::int64_t ms) {
  const std::int64_t minutes = ms / kMinuteMs;
  if (minutes < 1) return "a minute";
  if (minutes < 120) return fmt::format("{} min", minutes);
  return minutes < 48 * 60 ? fmt::format("{} h", minutes / 60) : fmt::format("{} d", minutes / (24 * 60));
}

std::string leak_text(const std::vector<const Forecast*>& leaks) {
  std::string text;
  for (const Forecast* leak : leaks) {
    if (!text.empty()) text += "; ";
    if (leaks.size() > kLeaksNamed && leak == leaks[kLeaksNamed]) {
      text += fmt::format("and {} more", leaks.size() - kLeaksNamed);
      break;
    }
    text += fmt::format("{} leaks and will have used up {} within {} (confidence {} of 100)", to_printable(leak->title),
                        to_printable(leak->limit), span(leak->in_ms), leak->confidence);
  }
  return text + '.';
}

}  // namespace

std::string_view to_string(AlertReason reason) {
  return kReasons.at(static_cast<std::size_t>(reason));
}

std::string oom_kill_text(const OomVictim& victim) {
  std::string text = victim.killer
                         ? fmt::format("{} ({}) killed", to_printable(victim.killer->comm), victim.killer->pid)
                         : "The OOM killer ended";
  text += fmt::format(" {} ({})", victim.comm.empty() ? "a process" : to_printable(victim.comm), victim.pid);
  if (!victim.cgroup.empty()) text += " of " + to_printable(victim.cgroup);
  if (victim.held_kib) text += fmt::format(", which held {:.0f} MiB", static_cast<double>(*victim.held_kib) / 1024);
  return text;
}

std::vector<Alert> AlertRules::see(const Tick& tick) {
  std::vector<Alert> due;
  const bool untold = was_untold_kill(tick);
  if (!limits_.on) return due;
  if (auto alert = oom_kill(tick, untold)) add(*std::move(alert), due);
  const auto waited_bp = tick.machine.memory.get(MachineField::psi_some_avg60);
  if (limits_.pressure_ppm > 0 && waited_bp && *waited_bp * kPpmInBasisPoint >= limits_.pressure_ppm) {
    add({AlertReason::pressure, tick.begin.wall_ms, tick.begin.boot_ms,
         fmt::format("In the last minute some process waited for memory {:.0f}% of the time.",
                     static_cast<double>(*waited_bp) / 100)},
        due);
  }
  return due;
}

std::optional<Alert> AlertRules::see(const std::vector<Forecast>& forecasts, const Moment& at) {
  if (!limits_.on || limits_.leak_ms == 0 || rests(AlertReason::leak, at.boot_ms)) return std::nullopt;
  std::erase_if(leaks_, [&](const auto& told) { return at.boot_ms - told.second >= limits_.leak_every_ms; });
  std::vector<const Forecast*> leaks;
  for (const Forecast& leak : forecasts) {
    if (leak.in_ms <= limits_.leak_ms && !leaks_.contains(leak.subject)) leaks.push_back(&leak);
  }
  if (leaks.empty()) return std::nullopt;
  for (const Forecast* leak : leaks) leaks_.emplace(leak->subject, at.boot_ms);
  note_told(AlertReason::leak, at.boot_ms);
  return Alert{AlertReason::leak, at.wall_ms, at.boot_ms, leak_text(leaks), leaks.front()->title, leaks.front()->limit};
}

bool AlertRules::rests(AlertReason reason, std::int64_t now_ms) const {
  const auto& last_ms = last_ms_.at(static_cast<std::size_t>(reason));
  return last_ms && now_ms - *last_ms < limits_.every_ms;
}

void AlertRules::add(Alert alert, std::vector<Alert>& due) {
  if (rests(alert.reason, alert.tick_ms)) return;
  note_told(alert.reason, alert.tick_ms);
  due.push_back(std::move(alert));
}

bool AlertRules::was_untold_kill(const Tick& tick) {
  const auto now = tick.machine.memory.get(MachineField::oom_kill);
  if (!now) return false;
  const auto before = std::exchange(kills_, now);
  return before && *now >= *before && untold_kills(*now - *before, tick, kills_ahead_) > 0;
}

}  // namespace memoir
