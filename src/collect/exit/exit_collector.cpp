#include "collect/exit/exit_collector.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/text.h"

namespace memoir {
namespace {

// The kernel's count may change while it is read, by about this much.
constexpr std::int64_t kNegligibleKib = 256;

// Users without a known name that are looked up per tick. A user with many uids would cause many requests.
constexpr std::size_t kMaxNamesAsked = 16;

// Maximum number of victims reported in five minutes. Counters include further kills.
constexpr std::size_t kMaxVictims = 30;

// User-space killers first send SIGTERM, and kill the processes that remain about ten seconds later.
constexpr std::int64_t kPatienceMs = 12'000;

// Returns the key of the image that the last tick sampled; nullptr if there is none.
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

// Removes the extremes of a process that ended with an image which no tick observed: scans may have seen that image in
// place of the previous one.
void forget_scans(const ProcessKey& key, TickExtremes& extremes) {
  std::erase_if(extremes.processes, [&key](const ProcessExtremes& of) {
    return of.process.pid == key.pid && of.process.start_ticks == key.start_ticks;
  });
}

// Raises the process's high-water mark in the extremes to its peak at exit, if that is higher.
void raise_mark(const KeptExit& kept, TickExtremes& extremes) {
  if (!kept.record.peak_kib) return;
  auto of = std::ranges::find(extremes.processes, kept.key, &ProcessExtremes::process);
  if (of == extremes.processes.end()) {
    of = extremes.processes.emplace(of);
    of->process = kept.key;
  }
  std::optional<SeenSize>& highest = of->hwm.highest;
  if (!highest || *kept.record.peak_kib > highest->kib + kNegligibleKib)
    highest = {*kept.record.peak_kib, kept.record.exited_ms, kept.after_ms, Origin::exit};
}

}  // namespace

bool ExitCollector::note(const ProcessEvent& event, const Entries& entries, const std::vector<ProcessExit>& exits,
                         const Moment& now, std::optional<std::int64_t> scanned_ms) {
  if (event.kind == ProcessEventKind::oom_victim) {
    take_choice(event, entries, now);
    return true;
  }
  if (event.kind == ProcessEventKind::signalled) return take_signal(event, entries, now);
  if (event.kind == ProcessEventKind::attached) return false;
  const bool ends = event.kind == ProcessEventKind::exited;
  const KeptExit* const kept = fold_.note(event, ends ? find_key(entries, exits, event) : nullptr,
                                          {now.wall_ms - now.boot_ms, ticks_per_second_, scanned_ms});
  for (Victim& of : victims_) {
    if (!ends || of.victim.pid != event.pid || of.victim.peak_kib) continue;
    of.victim.peak_kib = event.peak_kib;
    if (of.victim.comm.empty()) of.victim.comm = to_utf8(event.comm);
    of.cgroup_id = event.cgroup_id;
    of.memory_cgroup_id = event.memory_cgroup_id;
  }
  if (kept == nullptr || kept->sampled || kept->execed || kept->parent_execed) return false;
  // If the parent has exec'd, the table still has the parent's previous program.
  const ProcessEntry* const parent = find_entry(entries, event.parent_pid);
  if (parent != nullptr && parent->info.comm == to_utf8(event.comm)) heads_.insert_or_assign(kept->key, parent->info);
  return false;
}

// Adds a victim. Returns nullptr if there have been too many.
ExitCollector::Victim* ExitCollector::choose(std::int32_t pid, std::int64_t at_ms, const Moment& now) {
  const std::int64_t block = now.wall_ms / kExitBlockMs;
  if (std::exchange(victim_block_, block) != block) chosen_ = 0;
  if (++chosen_ > kMaxVictims) return nullptr;
  Victim& chosen = victims_.emplace_back();
  chosen.victim.pid = pid;
  chosen.victim.at_ms = at_ms;
  return &chosen;
}

// Returns whether a victim is reported again: with memory.oom.group, the kernel reports the first victim once more with
// the others of its group.
template <typename IsSame>
bool ExitCollector::is_repeated(const std::vector<Victim>& known, std::int32_t pid, std::int64_t at_ms,
                                const IsSame& is_same) {
  constexpr std::int64_t soon_ms = 1'000;
  return std::ranges::any_of(known, [&](const Victim& of) {
    return of.victim.pid == pid && !of.victim.killer && std::abs(of.victim.at_ms - at_ms) < soon_ms && is_same(of);
  });
}

// Adds a victim with what is known now, because its cgroup may be deleted when its exit is reported.
ExitCollector::Victim* ExitCollector::choose(const ProcessEvent& event, std::int64_t at_ms, const Entries& entries,
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

void ExitCollector::take_choice(const ProcessEvent& event, const Entries& entries, const Moment& now) {
  const std::int64_t at_ms = boot_to_wall(event, now);
  if (Victim* const known = nearest(event.pid, at_ms, false)) {
    known->by_event = true;
    return;
  }
  if (is_repeated(victims_, event.pid, at_ms, [&](const Victim& of) { return of.start_ticks == event.start_ticks; }))
    return;
  // A process that received SIGTERM and was then killed by the kernel is a victim of the kernel.
  std::erase_if(victims_, [&](const Victim& of) { return of.victim.pid == event.pid && of.victim.killer; });
  choose(event, at_ms, entries, now);
}

// Adds the victim of a user-space killer. Further signals to a process belong to the same kill.
bool ExitCollector::take_signal(const ProcessEvent& event, const Entries& entries, const Moment& now) {
  const auto known = std::ranges::find(victims_, event.pid, [](const Victim& of) { return of.victim.pid; });
  if (known != victims_.end()) {
    if (known->victim.killer) known->victim.killer = event.killer;
    return false;
  }
  // Ignores signals to a victim that was already reported, because a process may take long to exit.
  const auto is_reported = [&](const Victim& of) {
    return of.victim.pid == event.pid && of.start_ticks == event.start_ticks && of.victim.killer && of.victim.killed();
  };
  if (std::ranges::any_of(reported_, is_reported)) return false;
  Victim* const chosen = choose(event, boot_to_wall(event, now), entries, now);
  if (chosen == nullptr) return true;
  chosen->victim.killer = event.killer;
  chosen->victim.held = event.held;
  if (event.held) chosen->victim.held_kib = event.held->anon_kib + event.held->file_kib + event.held->shmem_kib;
  return true;
}

// Finds the waiting victim with this pid that has no event yet (`by_event` false) or no log entry yet (true). The
// clocks of events and of the log differ too much for a stricter match. The kernel does not choose a reused pid again
// within two ticks.
ExitCollector::Victim* ExitCollector::nearest(std::int32_t pid, std::int64_t at_ms, bool by_event) {
  Victim* found = nullptr;
  const auto distance = [&](const Victim& of) { return std::abs(of.victim.at_ms - at_ms); };
  for (Victim& of : victims_) {
    if (of.victim.killer) continue;  // the kernel log has no line about its kill
    if (of.victim.pid != pid || of.by_event != by_event || of.victim.detail.has_value() == by_event) continue;
    if (found == nullptr || distance(of) < distance(*found)) found = &of;
  }
  return found;
}

// Returns whether a log entry belongs to a reported victim. A busy log may be a few ticks late.
bool ExitCollector::was_reported(const OomReport& report, std::int64_t at_ms) {
  const auto is_same = [&](const Victim& of) { return of.victim.detail && of.victim.comm == report.comm; };
  if (is_repeated(victims_, report.pid, at_ms, is_same) || is_repeated(reported_, report.pid, at_ms, is_same))
    return true;
  const auto late = std::ranges::find_if(reported_, [&](const Victim& of) {
    return of.victim.pid == report.pid && !of.victim.detail && !of.victim.killer;
  });
  if (late == reported_.end()) return false;
  late->victim.detail = report.detail;
  return true;
}

void ExitCollector::note(const OomLog::Kill& kill, const Entries& entries, const Moment& now) {
  const OomReport& report = kill.report;
  const std::int64_t at_ms = now.wall_ms - now.boot_ms + kill.boot_ms;
  Victim* of = nearest(report.pid, at_ms, true);
  if (of == nullptr) {
    if (was_reported(report, at_ms)) return;
    of = choose(report.pid, at_ms, now);
    if (of == nullptr) return;
    of->waited = true;
    const ProcessEntry* const entry = find_entry(entries, report.pid);
    // A pid from a nested PID namespace may belong to another process here.
    if (entry != nullptr && entry->info.comm == report.comm) {
      of->victim.cgroup = entry->info.cgroup;
      of->victim.held_kib = rss_kib(entry->sample.memory);
    }
  }
  of->victim.detail = report.detail;
  if (of->victim.comm.empty()) of->victim.comm = report.comm;
  if (of->victim.cgroup.empty()) of->victim.cgroup = report.cgroup;
}

// Reports victims. Each waits up to one tick for its exit and for the log.
void ExitCollector::report_victims(CollectContext& context) {
  const std::int64_t old_ms = context.tick.begin.wall_ms - kExitBlockMs;
  std::erase_if(reported_, [&](const Victim& of) { return of.victim.at_ms < old_ms; });
  std::erase_if(victims_, [&](Victim& of) {
    const bool whole = of.victim.peak_kib && (of.victim.detail || of.victim.killer || !log_expected_);
    if (!whole && !std::exchange(of.waited, true)) return false;
    if (!of.victim.killed() && context.tick.begin.boot_ms - of.boot_ms < kPatienceMs) return false;
    // The victim may have moved to another cgroup since it was chosen.
    const std::uint64_t number = names_.number(of.cgroup_id, of.memory_cgroup_id);
    std::string ended_in = number == 0 ? "" : names_.path(number, context.tick.begin.boot_ms);
    if (!ended_in.empty()) of.victim.cgroup = std::move(ended_in);
    if (log_expected_ || of.victim.killer) reported_.push_back(of);
    context.tick.oom_victims.push_back(std::move(of.victim));
    return true;
  });
}

std::vector<std::shared_ptr<BlockingJob>> ExitCollector::ask(ProcessResolver& identifier) {
  taken_ = fold_.take();
  std::set<std::uint32_t> users;
  for (const KeptExit& kept : taken_.kept) {
    if (!kept.sampled) users.insert(kept.event.uid);
  }
  for (const SummedExits& sum : taken_.sums) {
    if (sum.uid) users.insert(*sum.uid);
  }
  std::vector<std::shared_ptr<BlockingJob>> jobs;
  for (const std::uint32_t uid : users) {
    if (jobs.size() == kMaxNamesAsked) break;
    if (auto job = identifier.ask_user(uid)) jobs.push_back(std::move(job));
  }
  return jobs;
}

// Returns the noted cgroup of an OOM victim, whose directory may be deleted by now; empty if there is none.
std::string ExitCollector::cgroup_of_victim(std::int32_t pid) const {
  const auto of = std::ranges::find(victims_, pid, [](const Victim& victim) { return victim.victim.pid; });
  return of == victims_.end() ? "" : of->victim.cgroup;
}

// Adds an unsampled process to the tick.
void ExitCollector::introduce(const KeptExit& kept, ProcessResolver& identifier, CollectContext& context) {
  const ProcessEvent& event = kept.event;
  const std::int64_t boot_ms = context.tick.begin.boot_ms;
  ProcessInfo info;
  if (auto head = heads_.extract(kept.key); !head.empty()) {
    info = std::move(head.mapped());
  } else {
    info.comm = to_utf8(event.comm);
    info.command = info.comm;
  }
  info.key = kept.key;
  info.start_ms = kept.record.exited_ms - kept.record.lived_ms;
  info.parent_pid = event.parent_pid;
  info.uid = event.uid;
  info.user = identifier.user_name(event.uid);
  info.cgroup = names_.path(names_.number(event.cgroup_id, event.memory_cgroup_id), boot_ms);
  if (info.cgroup.empty()) info.cgroup = cgroup_of_victim(event.pid);
  info.category = identifier.category(info);
  identifier.names().fit(info, {}, boot_ms);
  context.tick.born.push_back(std::move(info));
  if (kept.execed) forget_scans(kept.key, context.tick.extremes);
  raise_mark(kept, context.tick.extremes);
}

void ExitCollector::learn_cgroups(const Entries& entries) {
  std::set<std::string_view> paths;
  for (const auto& entry : entries) paths.insert(entry->info.cgroup);
  for (const std::string_view path : paths) names_.learn(path);
}

void ExitCollector::add_to(const Entries& entries, ProcessResolver& identifier, CollectContext& context) {
  Tick& tick = context.tick;
  if (!taken_.kept.empty() || !taken_.sums.empty() || !victims_.empty()) learn_cgroups(entries);
  if (tick.events) tick.events->exits = taken_.exits;
  for (KeptExit& kept : taken_.kept) {
    // A zombie that this tick sampled is already known.
    const ProcessEntry* const entry = find_entry(entries, kept.key.pid);
    const bool here = entry != nullptr && entry->start_ticks == kept.key.start_ticks && entry->info.key.pid != 0;
    if (here) kept.key = kept.record.process = entry->info.key;
    tick.exit_records.push_back(kept.record);
    if (kept.sampled || here) {
      raise_mark(kept, tick.extremes);
    } else {
      introduce(kept, identifier, context);
    }
  }
  std::ranges::sort(tick.exit_records, {}, &ExitRecord::process);
  for (SummedExits& of : taken_.sums) {
    if (of.uid) of.sum.user = identifier.user_name(*of.uid);
    of.sum.comm = to_utf8(of.sum.comm);
    of.sum.cgroup = identifier.names().fit_cgroup(
        of.uid.value_or(0), names_.path(names_.number(of.cgroup_id, of.memory_cgroup_id), tick.begin.boot_ms),
        tick.begin.boot_ms);
    tick.exit_sums.push_back(std::move(of.sum));
  }
  report_victims(context);
  taken_ = {};
  heads_.clear();
}

}  // namespace memoir
