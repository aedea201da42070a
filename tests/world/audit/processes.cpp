// Peaks, exits and lifetimes of processes.

#include <algorithm>

#include "world/audit/laws.h"

namespace memoir::world {
namespace {

struct ImageAt {
  const Life* life = nullptr;
  const Image* image = nullptr;
  bool is_last = false;
};

// The images that the recorder could have sampled. An earlier image of a process that ran only between two ticks is not
// among them.
std::map<std::string, ImageAt> known_images(const Truth& truth) {
  std::map<std::string, ImageAt> images;
  for (const auto& [serial, life] : truth.lives) {
    for (const Image& image : life.images) {
      const bool is_last = &image == &life.images.back();
      if (image.samples > 0 || (is_last && life.exit_reported)) {
        images[name_of(life, image)] = {&life, &image, is_last};
      }
    }
  }
  return images;
}

Words exits(const Audit& audit) {
  return Words{"exits"} + audit.range();
}
Words processes(const Audit& audit) {
  return Words{"processes"} + audit.range();
}

// Returns true if the process is too young for its own bucket of 5 minutes (TierShape::process_age_ms).
bool is_young(const std::map<std::string, ImageAt>& known, const std::string& name) {
  const auto of = known.find(name);
  return of == known.end() ||
         (of->second.image->end_ms && *of->second.image->end_ms - of->second.image->start_ms < 1'800'000);
}

// Returns true if small unsampled processes are only in sums, so that answers have no row for each.
bool sums_exits(Audit& audit) {
  return number(part(audit.ask(exits(audit)), "totals"), "summed") > 0;
}

}  // namespace

void peaks_agree(Audit& audit) {
  const auto known = known_images(audit.truth());
  const auto all_time = by_name(audit.ask({"peaks", "--limit", "0"}));
  for (const auto& [name, of] : known) {
    const auto found = all_time.find(name);
    if (found == all_time.end()) {
      if (of.image->samples > 0 || !sums_exits(audit)) audit.check("world", false, "{} is not in peaks", name);
      continue;
    }
    const std::int64_t peak_kib = number(*found->second, "peak_kib");
    audit.check("world", of.image->known_kib <= peak_kib && peak_kib <= of.image->peak_kib,
                "{}: peaks has {}, known {}, true {}", name, peak_kib, of.image->known_kib, of.image->peak_kib);
  }
  struct Other {
    const char* clause;
    Words words;
    const char* key;
  };
  for (const Other& other :
       {Other{"peaks of a range", Words{"peaks"} + audit.range(), "peak_kib"},
        Other{"peaks of 5min", Words{"peaks", "--tier", "5min"} + audit.range(), "peak_kib"},
        Other{"processes", processes(audit), "hwm_kib"}, Other{"exits", exits(audit), "peak_kib"}}) {
    const auto rows = by_name(audit.ask(other.words));
    for (const auto& [name, row] : all_time) {
      const auto found = rows.find(name);
      if (other.words[0] == "exits") {
        const auto of = known.find(name);
        if (of == known.end() || !of->second.is_last || !of->second.life->exit_reported) continue;
      }
      if (found == rows.end() && other.words.at(1) == "--tier" && is_young(known, name)) continue;
      audit.check(other.clause, found != rows.end() && number(*found->second, other.key) == number(*row, "peak_kib"),
                  "{}: {} in peaks, {}", name, number(*row, "peak_kib"),
                  found == rows.end() ? "absent" : std::to_string(number(*found->second, other.key)));
    }
    for (const auto& [name, row] : rows) {
      audit.check(other.clause, all_time.contains(name), "{} is not in peaks of all time", name);
    }
  }
}

void exits_are_counted(Audit& audit) {
  const std::int64_t reported =
      std::ranges::count_if(audit.truth().lives, [](const auto& life) { return life.second.exit_reported; });
  for (const Words& group : {Words{}, Words{"--group", "user"}, Words{"--group", "command"}}) {
    const json& totals = part(audit.ask(exits(audit) + group), "totals");
    audit.check("", number(totals, "ended") == reported, "{} by {}, {} were reported", number(totals, "ended"),
                group.empty() ? "process" : group.back(), reported);
  }
}

void starts_and_exits_balance(Audit& audit) {
  const Truth& truth = audit.truth();
  const json& summary = audit.summary();
  if (summary.is_null()) return;
  std::int64_t started = 0, exited = 0, alive_before = 0, alive_after = 0;
  for (const auto& [serial, life] : truth.lives) {
    if (!life.is_known()) continue;
    (truth.ticks.front().processes.contains(serial) ? alive_before : started) += 1;
    (life.end_ms ? exited : alive_after) += 1;
  }
  const std::int64_t says_started = std::max(number(summary, "processes_began"), number(summary, "processes_started"));
  const std::int64_t says_exited = std::max(number(summary, "processes_ended"), number(summary, "processes_exited"));
  audit.check("summary", says_started - says_exited == alive_after - alive_before,
              "summary: {} started, {} exited; {} alive before, {} after", says_started, says_exited, alive_before,
              alive_after);
  audit.check("started", says_started == started, "summary: {} for {}", says_started, started);
  audit.check("exited", says_exited == exited, "summary: {} for {}", says_exited, exited);
}

void a_life_ends_once(Audit& audit) {
  std::map<std::string, std::map<std::string, int>> ends;  // exits of a process's images, by pid and start
  for (const json& row : list(audit.ask(processes(audit)), "rows")) {
    const std::string name = name_of(row);
    ++ends[name.substr(0, name.find(':'))][text(row, "end")];
  }
  for (const auto& [serial, life] : audit.truth().lives) {
    const auto found = ends.find(fmt::format("{}@{}", life.pid, life.start_ms));
    if (found == ends.end()) continue;
    int exits = 0, execs = 0, alive = 0;
    for (const auto& [end, count] : found->second) {
      (end == "alive" ? alive : end.find("exec") != std::string::npos ? execs : exits) += count;
    }
    audit.check("", exits <= 1 && alive <= 1 && (exits == 1) == life.end_ms.has_value(),
                "{}: {} images alive, {} exits, {} execs ({}); it {}", found->first, alive, exits, execs,
                json(found->second).dump(), life.end_ms ? "exited" : "lives");
  }
}

void lifetimes_agree(Audit& audit) {
  const auto known = known_images(audit.truth());
  const auto rows = by_name(audit.ask(processes(audit)));
  for (const json& exit : list(audit.ask(exits(audit)), "rows")) {
    const auto found = rows.find(name_of(exit));
    const auto of = known.find(name_of(exit));
    if (found == rows.end() || of == known.end()) continue;
    const bool execed = of->second.life->images.size() > 1;
    const std::int64_t lifetime_ms = number(*found->second, "lifetime_ms");
    audit.check(execed ? "after an exec" : "", std::abs(number(exit, "lived_ms") - lifetime_ms) <= 10,
                "{}: {} ms in processes, {} in exits", found->first, lifetime_ms, number(exit, "lived_ms"));
    if (execed || !of->second.life->exit_reported) continue;
    const std::int64_t true_ms = *of->second.life->end_ms - of->second.life->start_ms;
    audit.check("world", std::abs(number(exit, "lived_ms") - true_ms) <= 10, "{}: {} ms in exits, truly {}",
                found->first, number(exit, "lived_ms"), true_ms);
  }
}

}  // namespace memoir::world
