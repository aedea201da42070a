#include "collect/exit/exit_collector.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/text.h"

namespace memoir {
namespace {

// A count that is made while it moves may be off by so much.
constexpr std::int64_t kNegligibleKib = 256;

// In a tick, of users whose names are not known yet: who has many uids would have many asked.
constexpr std::size_t kMostNamesAsked = 16;

// In five minutes. The counters tell of more.
constexpr std::size_t kMostVictims = 30;

// Killers in user space ask first (SIGTERM), and kill who is still there some ten seconds later.
constexpr std::int64_t kPatienceMs = 12'000;

// The key of the image that the last tick saw.
const ProcessKey* find_key(const Entries& entries, const std::vector<ProcessExit>& exits, const ProcessEvent& event) {
  const ProcessEntry* const entry = find_entry(entries, event.pid);
  if (entry != nullptr && entry->start_ticks == event.start_ticks)
    return entry->info.key.pid == 0 ? nullptr : &entry->info.key;
  const auto gone = std::ranges::find_if(exits, [&](const ProcessExit& exit) {
    return exit.key.pid == event.pid && exit.key.start_ticks == event.start_ticks;
  });
  return gone == exits.end() ? nullptr : &gone->key;
}

std::int64_t boot_to_wall(const ProcessEvent& event, const Moment& now) {
  return now.wall_ms - now.boot_ms + event.boot_ns / 1'000'000;
}

// What looks saw of it was not yet the highest.
void raise_mark(const KeptEnd& kept, TickExtremes& extremes) {
  if (!kept.end.peak_kib) return;
  auto of = std::ranges::find(extremes.processes, kept.key, &ProcessExtremes::process);
  if (of == extremes.processes.end()) {
    of = extremes.processes.emplace(of);
    of->process = kept.key;
  }
  std::optional<SeenSize>& highest = of->hwm.highest;
  if (!highest || *kept.end.peak_kib > highest->kib + kNegligibleKib)
    highest = {*kept.end.peak_kib, kept.end.ended_ms, kept.after_ms, SeenBy::exit};
}

}  // namespace

bool EndReader::note(const ProcessEvent& event, const Entries& entries, const std::vector<ProcessExit>& exits,
                     const Moment& now, std::optional<std::int64_t> looked_ms) {
  if (event.kind == ProcessEventKind::oom_victim) {
    take_choice(event, entries, now);
    return true;
  }
  if (event.kind == ProcessEventKind::signalled) return take_signal(event, entries, now);
  if (event.kind == ProcessEventKind::attached) return false;
  const bool ends = event.kind == ProcessEventKind::exited;
  const KeptEnd* const kept = ends_.note(event, ends ? find_key(entries, exits, event) : nullptr,
                                         {now.wall_ms - now.boot_ms, ticks_per_second_, looked_ms});
  for (Victim& of : victims_) {
    if (!ends || of.victim.pid != event.pid || of.victim.peak_kib) continue;
    of.victim.peak_kib = event.peak_kib;
    if (of.victim.comm.empty()) of.victim.comm = to_utf8(event.comm);
    of.cgroup_id = event.cgroup_id;
    of.memory_cgroup_id = event.memory_cgroup_id;
  }
  if (kept == nullptr || kept->sampled || kept->execed) return false;
  const ProcessEntry* const parent = find_entry(entries, event.parent_pid);
  if (parent != nullptr && parent->name == event.comm) heads_.insert_or_assign(kept->key, parent->info);
  return false;
}

// nullptr: there were enough of them.
EndReader::Victim* EndReader::choose(std::int32_t pid, std::int64_t at_ms, const Moment& now) {
  const std::int64_t block = now.wall_ms / kEndBlockMs;
  if (std::exchange(victim_block_, block) != block) chosen_ = 0;
  if (++chosen_ > kMostVictims) return nullptr;
  Victim& chosen = victims_.emplace_back();
  chosen.victim.pid = pid;
  chosen.victim.at_ms = at_ms;
  return &chosen;
}

// With memory.oom.group the kernel tells of the one that it chose again, with all the others of the group.
template <typename IsSame>
bool EndReader::is_repeated(const std::vector<Victim>& known, std::int32_t pid, std::int64_t at_ms,
                            const IsSame& is_same) {
  constexpr std::int64_t soon_ms = 1'000;
  return std::ranges::any_of(known, [&](const Victim& of) {
    return of.victim.pid == pid && !of.victim.killer && std::abs(of.victim.at_ms - at_ms) < soon_ms && is_same(of);
  });
}

// What is known of it now: its end is told a little later, and its cgroup may be gone by then.
EndReader::Victim* EndReader::choose(const ProcessEvent& event, std::int64_t at_ms, const Entries& entries,
                                     const Moment& now) {
  Victim* const chosen = choose(event.pid, at_ms, now);
  if (chosen == nullptr) return nullptr;
  chosen->by_event = true;
  chosen->start_ticks = event.start_ticks;
  chosen->boot_ms = event.boot_ns / 1'000'000;
  OomVictim& victim = chosen->victim;
  victim.comm = to_utf8(event.comm);
  const ProcessEntry* const entry = find_entry(entries, event.pid);
  if (entry == nullptr || (event.start_ticks != 0 && entry->start_ticks != event.start_ticks)) return chosen;
  if (victim.comm.empty()) victim.comm = entry->info.comm;
  victim.cgroup = entry->info.cgroup;
  victim.held_kib = rss_kib(entry->sample.memory);
  return chosen;
}

void EndReader::take_choice(const ProcessEvent& event, const Entries& entries, const Moment& now) {
  const std::int64_t at_ms = boot_to_wall(event, now);
  if (Victim* const known = nearest(event.pid, at_ms, false)) {
    known->by_event = true;
    return;
  }
  if (is_repeated(victims_, event.pid, at_ms, [&](const Victim& of) { return of.start_ticks == event.start_ticks; }))
    return;
  // Who was asked to end, and then killed by the kernel, is the kernel's.
  std::erase_if(victims_, [&](const Victim& of) { return of.victim.pid == event.pid && of.victim.killer; });
  choose(event, at_ms, entries, now);
}

// Further signals to one process are of one kill, which the last of them made.
bool EndReader::take_signal(const ProcessEvent& event, const Entries& entries, const Moment& now) {
  const auto known = std::ranges::find(victims_, event.pid, [](const Victim& of) { return of.victim.pid; });
  if (known != victims_.end()) {
    if (known->victim.killer) known->victim.killer = event.killer;
    return false;
  }
  // It may take long to die.
  const auto is_told = [&](const Victim& of) {
    return of.victim.pid == event.pid && of.start_ticks == event.start_ticks && of.victim.killer && of.victim.killed();
  };
  if (std::ranges::any_of(told_, is_told)) return false;
  Victim* const chosen = choose(event, boot_to_wall(event, now), entries, now);
  if (chosen == nullptr) return true;
  chosen->victim.killer = event.killer;
  chosen->victim.held = event.held;
  if (event.held) chosen->victim.held_kib = event.held->anon_kib + event.held->file_kib + event.held->shmem_kib;
  return true;
}

// Of those that wait, who was chosen by an event and not yet told of by the log, or the other way round. Their clocks
// are too far apart to ask for more than that; who has a pid again is not chosen within two ticks as well.
EndReader::Victim* EndReader::nearest(std::int32_t pid, std::int64_t at_ms, bool by_event) {
  Victim* found = nullptr;
  const auto distance = [&](const Victim& of) { return std::abs(of.victim.at_ms - at_ms); };
  for (Victim& of : victims_) {
    if (of.victim.killer) continue;  // no line is about it
    if (of.victim.pid != pid || of.by_event != by_event || of.victim.detail.has_value() == by_event) continue;
    if (found == nullptr || distance(of) < distance(*found)) found = &of;
  }
  return found;
}

// The log may be some ticks behind, where much is written to it.
bool EndReader::was_told(const OomReport& report, std::int64_t at_ms) {
  const auto is_same = [&](const Victim& of) { return of.victim.detail && of.victim.comm == report.comm; };
  if (is_repeated(victims_, report.pid, at_ms, is_same) || is_repeated(told_, report.pid, at_ms, is_same)) return true;
  const auto late = std::ranges::find_if(
      told_, [&](const Victim& of) { return of.victim.pid == report.pid && !of.victim.detail && !of.victim.killer; });
  if (late == told_.end()) return false;
  late->victim.detail = report.detail;
  return true;
}

void EndReader::note(const OomLog::Kill& kill, const Entries& entries, const Moment& now) {
  const OomReport& report = kill.report;
  const std::int64_t at_ms = now.wall_ms - now.boot_ms + kill.boot_ms;
  Victim* of = nearest(report.pid, at_ms, true);
  if (of == nullptr) {
    if (was_told(report, at_ms)) return;
    of = choose(report.pid, at_ms, now);
    if (of == nullptr) return;
    of->waited = true;
    const ProcessEntry* const entry = find_entry(entries, report.pid);
    // In a PID namespace of ours another has that number.
    if (entry != nullptr && entry->info.comm == report.comm) {
      of->victim.cgroup = entry->info.cgroup;
      of->victim.held_kib = rss_kib(entry->sample.memory);
    }
  }
  of->victim.detail = report.detail;
  if (of->victim.comm.empty()) of->victim.comm = report.comm;
  if (of->victim.cgroup.empty()) of->victim.cgroup = report.cgroup;
}

// With their ends and with what the log tells of them, for which they wait for a tick.
void EndReader::tell_victims(Pass& pass) {
  const std::int64_t old_ms = pass.tick.begin.wall_ms - kEndBlockMs;
  std::erase_if(told_, [&](const Victim& of) { return of.victim.at_ms < old_ms; });
  std::erase_if(victims_, [&](Victim& of) {
    const bool whole = of.victim.peak_kib && (of.victim.detail || of.victim.killer || !log_expected_);
    if (!whole && !std::exchange(of.waited, true)) return false;
    if (!of.victim.killed() && pass.tick.begin.boot_ms - of.boot_ms < kPatienceMs) return false;
    // It may have been moved to another since its cgroup was read.
    const std::uint64_t number = names_.number(of.cgroup_id, of.memory_cgroup_id);
    std::string ended_in = number == 0 ? "" : to_utf8(names_.path(number, pass.tick.begin.boot_ms));
    if (!ended_in.empty()) of.victim.cgroup = std::move(ended_in);
    if (log_expected_ || of.victim.killer) told_.push_back(of);
    pass.tick.oom_victims.push_back(std::move(of.victim));
    return true;
  });
}

std::vector<std::shared_ptr<BlockingJob>> EndReader::ask(Identifier& identifier) {
  taken_ = ends_.take();
  std::set<std::uint32_t> users;
  for (const KeptEnd& kept : taken_.kept) {
    if (!kept.sampled) users.insert(kept.event.uid);
  }
  for (const SummedEnds& sum : taken_.sums) {
    if (sum.uid) users.insert(*sum.uid);
  }
  std::vector<std::shared_ptr<BlockingJob>> jobs;
  for (const std::uint32_t uid : users) {
    if (jobs.size() == kMostNamesAsked) break;
    if (auto job = identifier.ask_user(uid)) jobs.push_back(std::move(job));
  }
  return jobs;
}

// As the log tells it, when the folder is gone.
std::string EndReader::cgroup_of_victim(std::int32_t pid) const {
  const auto of = std::ranges::find(victims_, pid, [](const Victim& victim) { return victim.victim.pid; });
  return of == victims_.end() ? "" : of->victim.cgroup;
}

// One that no tick saw.
void EndReader::introduce(const KeptEnd& kept, Identifier& identifier, Pass& pass) {
  const ProcessEvent& event = kept.event;
  const std::int64_t boot_ms = pass.tick.begin.boot_ms;
  ProcessInfo info;
  if (auto head = heads_.extract(kept.key); !head.empty()) {
    info = std::move(head.mapped());
  } else {
    info.comm = to_utf8(event.comm);
    info.command = info.comm;
  }
  info.key = kept.key;
  info.start_ms = kept.end.ended_ms - kept.end.lived_ms;
  info.parent_pid = event.parent_pid;
  info.uid = event.uid;
  info.user = identifier.user_name(event.uid);
  info.cgroup = to_utf8(names_.path(names_.number(event.cgroup_id, event.memory_cgroup_id), boot_ms));
  if (info.cgroup.empty()) info.cgroup = cgroup_of_victim(event.pid);
  info.category = identifier.category(info);
  identifier.names().fit(info, {}, boot_ms);
  pass.tick.born.push_back(std::move(info));
  raise_mark(kept, pass.tick.extremes);
}

void EndReader::learn_cgroups(const Entries& entries) {
  std::set<std::string_view> paths;
  for (const auto& entry : entries) paths.insert(entry->info.cgroup);
  for (const std::string_view path : paths) names_.learn(path);
}

void EndReader::tell(const Entries& entries, Identifier& identifier, Pass& pass) {
  Tick& tick = pass.tick;
  if (!taken_.kept.empty() || !taken_.sums.empty() || !victims_.empty()) learn_cgroups(entries);
  if (tick.events) tick.events->ends = taken_.ends;
  for (KeptEnd& kept : taken_.kept) {
    // A zombie that this tick found is in it already.
    const ProcessEntry* const entry = find_entry(entries, kept.key.pid);
    const bool here = entry != nullptr && entry->start_ticks == kept.key.start_ticks && entry->info.key.pid != 0;
    if (here) kept.key = kept.end.process = entry->info.key;
    tick.ends.push_back(kept.end);
    if (kept.sampled || here) {
      raise_mark(kept, tick.extremes);
    } else {
      introduce(kept, identifier, pass);
    }
  }
  std::ranges::sort(tick.ends, {}, &ProcessEnd::process);
  for (SummedEnds& of : taken_.sums) {
    if (of.uid) of.sum.user = identifier.user_name(*of.uid);
    of.sum.comm = to_utf8(of.sum.comm);
    of.sum.cgroup = to_utf8(names_.path(names_.number(of.cgroup_id, of.memory_cgroup_id), tick.begin.boot_ms));
    tick.end_sums.push_back(std::move(of.sum));
  }
  tell_victims(pass);
  taken_ = {};
  heads_.clear();
}

}  // namespace memoir
