// OOM kills.

#include "world/audit/laws.h"

namespace memoir::world {

void kills_are_counted(Audit& audit) {
  const Truth& truth = audit.truth();
  if (truth.ticks.size() < 2) return;
  const std::int64_t rise = truth.ticks.back().oom_kills - truth.ticks.front().oom_kills;
  if (truth.ticks.back().wall_ms - truth.ticks.front().wall_ms < 86'400'000) {
    const std::int64_t status = number(audit.ask({"status"}), "oom_kills");
    audit.check("status", status == rise, "{} for {}", status, rise);
  }
  if (const json& summary = audit.summary(); !summary.is_null()) {
    audit.check("summary", number(summary, "oom_kills") == rise, "{} for {}", number(summary, "oom_kills"), rise);
  }
  std::int64_t events = 0;
  for (const json& row : list(audit.ask(Words{"events"} + audit.range()), "rows")) {
    int count = 0;
    const bool counts = std::sscanf(text(row, "text").c_str(), "The OOM killer killed %d", &count) == 1;
    if (text(row, "kind") == "oom-kill" && counts) events += count;
  }
  audit.check("events", events == rise, "{} for {}", events, rise);
}

void victims_are_named(Audit& audit) {
  const Truth& truth = audit.truth();
  if (truth.kills.empty() || !truth.kills.back().reported) return;
  const Kill& kill = truth.kills.back();
  const Life& life = truth.lives.at(kill.serial);
  const Image& image = life.images.at(kill.image);
  const json& incident = audit.ask({"incident", "--last-oom"});
  const json* named = nullptr;
  for (const json& victim : list(incident, "victims")) {
    if (number(victim, "pid") == life.pid && std::abs(number(victim, "at_ms") - kill.at_ms) <= 1) named = &victim;
  }
  audit.check("incident", named != nullptr, "pid {} is no victim of {}", life.pid,
              json(list(incident, "victims")).dump());
  if (named == nullptr) return;
  audit.check("comm", text(*named, "comm") == image.comm, "{}: {}", image.comm, named->dump());
  const std::string name = fmt::format("{} ({})", image.comm, life.pid);
  audit.check("story", text(incident, "story").find(name) != std::string::npos, "killed was {}: {}", name,
              text(incident, "story"));
}

}  // namespace memoir::world
