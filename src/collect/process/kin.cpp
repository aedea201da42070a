#include "collect/process/kin.h"

#include <algorithm>
#include <unordered_map>

#include "base/sorted.h"

namespace memoir {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

}  // namespace

void Kin::note(const ProcessEvent& event) {
  // Its end is told as well.
  if (event.kind == ProcessEventKind::oom_victim || event.kind == ProcessEventKind::signalled) return;
  if (event.kind == ProcessEventKind::attached) {
    attached_.insert(event.pid);
    return;
  }
  moved_.insert(event.parent_pid);
  if (event.kind != ProcessEventKind::forked) children_moved_of_.insert(event.parent_pid);
  if (event.kind == ProcessEventKind::execed) execs_[event.pid] = {event.start_ticks, event.boot_ns};
  if (event.kind != ProcessEventKind::exited) {
    moved_.insert(event.pid);
    return;
  }
  moved_.erase(event.pid);
  children_moved_of_.erase(event.pid);
  execs_.erase(event.pid);
  attached_.erase(event.pid);
}

void Kin::see(const Entries& entries, std::int64_t read_until_ms, bool lost) {
  tell_execs(entries, read_until_ms);
  for (const std::int32_t pid : attached_) {
    if (ProcessEntry* const entry = find_entry(entries, pid)) entry->cgroup_due = true;
  }
  compare(entries);
  for (const auto& entry : entries) {
    const std::int32_t parent = entry->sample.parent_pid;
    const bool now = lost || moved_.contains(entry->pid) || (parent != kInit && children_moved_of_.contains(parent));
    if (!now || entry->related) continue;
    entry->related = true;
    if (entry->exact) entry->stand_in();
  }
  tell_writes(entries);
  execs_.clear();
  moved_.clear();
  children_moved_of_.clear();
  attached_.clear();
}

void Kin::tell_execs(const Entries& entries, std::int64_t read_until_ms) {
  for (const auto& entry : entries) {
    const auto exec = execs_.find(entry->pid);
    const bool told = exec != execs_.end() && exec->second.start_ticks == entry->start_ticks;
    const Known* const before = told ? find(*entry) : nullptr;
    const bool found_already = before != nullptr && (before->born || entry->execed);
    entry->exec_told = told && (!found_already || exec->second.boot_ns > read_until_ms * kNsPerMs);
  }
}

// To the parent, to its other children, and to its own: where its memory may be theirs, too.
void Kin::tell_writes(const Entries& entries) {
  struct Wrote {
    std::int64_t own_kib = 0;
    std::int64_t children_kib = 0;
  };
  std::unordered_map<std::int32_t, Wrote> writers;
  for (const auto& entry : entries) {
    const bool alone = entry->exact && !entry->related && anonymous_unshared(entry->exact->memory);
    if (entry->wrote_kib == 0 || alone) continue;
    writers[entry->pid].own_kib = entry->wrote_kib;
    if (entry->sample.parent_pid == kInit) continue;
    std::int64_t& children_kib = writers[entry->sample.parent_pid].children_kib;
    children_kib = std::min(children_kib + entry->wrote_kib, kAnyKib);
  }
  const auto wrote_by = [&writers](std::int32_t pid) {
    const auto found = writers.find(pid);
    return found == writers.end() ? Wrote{} : found->second;
  };
  for (const auto& entry : entries) {
    const Wrote here = wrote_by(entry->pid);
    const Wrote parent = entry->sample.parent_pid == kInit ? Wrote{here.own_kib} : wrote_by(entry->sample.parent_pid);
    // It is one of its parent's children itself.
    const std::int64_t kib = here.children_kib + parent.own_kib + parent.children_kib;
    entry->kin_wrote_kib = std::min(entry->kin_wrote_kib + kib, kAnyKib);
  }
}

// Who was born since, and who ended.
void Kin::compare(const Entries& entries) {
  std::vector<Known> now;
  now.reserve(entries.size());
  for (const auto& entry : entries) {
    const bool born = find(*entry) == nullptr;
    now.push_back({entry->pid, entry->sample.parent_pid, entry->start_ticks, born});
    if (born) moved_.insert({entry->pid, entry->sample.parent_pid});
  }
  for (const Known& before : known_) {
    const ProcessEntry* const entry = find_entry(entries, before.pid);
    if (entry != nullptr && entry->start_ticks == before.start_ticks) continue;
    moved_.insert(before.parent_pid);
    children_moved_of_.insert(before.parent_pid);
  }
  known_.swap(now);
}

const Kin::Known* Kin::find(const ProcessEntry& entry) const {
  const Known* const found = find_sorted(known_, entry.pid, &Known::pid);
  return found != nullptr && found->start_ticks == entry.start_ticks ? found : nullptr;
}

}  // namespace memoir
