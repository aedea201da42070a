#include "collect/process/relatives.h"

#include <algorithm>
#include <unordered_map>

#include "base/sorted.h"

namespace memoir {
namespace {

constexpr std::int64_t kBootNsPerMs = 1'000'000;

}  // namespace

void Relatives::note(const ProcessEvent& event, const Entries& entries) {
  // Ignored, because the exit of the process is reported as well.
  if (event.kind == ProcessEventKind::oom_victim || event.kind == ProcessEventKind::signalled) return;
  if (event.kind == ProcessEventKind::attached) {
    attached_.insert(event.pid);
    return;
  }
  const bool is_fork = event.kind == ProcessEventKind::forked;
  std::uint32_t family = is_fork ? 0 : family_of(event.pid, entries);
  if (family == 0) family = family_of(event.parent_pid, entries);
  moved_.insert(event.parent_pid);
  if (family != 0) moved_families_.insert(family);
  if (event.kind != ProcessEventKind::exited) {
    moved_.insert(event.pid);
    families_[event.pid] = is_fork ? family : ++last_family_;
    if (!is_fork) execs_[event.pid] = {event.start_ticks, event.boot_ns};
    return;
  }
  moved_.erase(event.pid);
  families_.erase(event.pid);
  execs_.erase(event.pid);
  attached_.erase(event.pid);
}

std::uint32_t Relatives::family_of(std::int32_t pid, const Entries& entries) const {
  if (const auto found = families_.find(pid); found != families_.end()) return found->second;
  const ProcessEntry* const entry = find_entry(entries, pid);
  return entry == nullptr ? 0 : entry->family;
}

void Relatives::see(const Entries& entries, std::int64_t read_until_ms, bool lost) {
  mark_execs(entries, read_until_ms);
  for (const std::int32_t pid : attached_) {
    if (ProcessEntry* const entry = find_entry(entries, pid)) entry->cgroup_due = true;
  }
  find_families(entries);
  compare(entries);
  for (const auto& entry : entries) {
    const bool shares = !entry->exact || !anonymous_unshared(entry->exact->memory);
    const bool now = lost || moved_.contains(entry->pid) || (shares && moved_families_.contains(entry->family));
    if (!now || entry->related) continue;
    entry->related = true;
    if (entry->exact) entry->stand_in();
  }
  mark_writes(entries);
  execs_.clear();
  moved_.clear();
  moved_families_.clear();
  families_.clear();
  attached_.clear();
}

// Assigns families. A started process that the table does not have is skipped.
void Relatives::find_families(const Entries& entries) {
  for (const auto& [pid, family] : families_) {
    ProcessEntry* const entry = find_entry(entries, pid);
    if (entry != nullptr && family != 0) entry->family = family;
  }
  std::vector<ProcessEntry*> line;  // a process and its ancestors without a family
  for (const auto& entry : entries) {
    std::uint32_t family = entry->family;
    for (ProcessEntry* at = entry.get(); family == 0;) {
      line.push_back(at);
      ProcessEntry* const parent =
          at->sample.parent_pid == kInit ? nullptr : find_entry(entries, at->sample.parent_pid);
      const bool is_root = parent == nullptr || line.size() > entries.size();
      family = is_root ? ++last_family_ : parent->family;
      at = parent;
    }
    for (ProcessEntry* const found : line) found->family = family;
    line.clear();
  }
}

void Relatives::mark_execs(const Entries& entries, std::int64_t read_until_ms) {
  for (const auto& entry : entries) {
    const auto exec = execs_.find(entry->pid);
    const bool reported = exec != execs_.end() && exec->second.start_ticks == entry->start_ticks;
    const Known* const before = reported ? find(*entry) : nullptr;
    const bool found_already = before != nullptr && (before->born || entry->execed);
    entry->has_exec_event = reported && (!found_already || exec->second.boot_ns > read_until_ms * kBootNsPerMs);
  }
}

// Adds the writes of each process to its whole family, because the written memory may belong to any of them.
void Relatives::mark_writes(const Entries& entries) {
  std::unordered_map<std::uint32_t, std::int64_t> wrote_kib;
  for (const auto& entry : entries) {
    const bool alone = entry->exact && !entry->related && anonymous_unshared(entry->exact->memory);
    if (entry->wrote_kib == 0 || alone) continue;
    std::int64_t& kib = wrote_kib[entry->family];
    kib = std::min(kib + entry->wrote_kib, kAnyKib);
  }
  if (wrote_kib.empty()) return;
  for (const auto& entry : entries) {
    const auto found = wrote_kib.find(entry->family);
    if (found == wrote_kib.end()) continue;
    entry->relatives_wrote_kib = std::min(entry->relatives_wrote_kib + found->second, kAnyKib);
    entry->doubt_if_changed();
  }
}

// Compares with the previous tick, and notes relatives of processes that started or exited.
void Relatives::compare(const Entries& entries) {
  std::vector<Known> now;
  now.reserve(entries.size());
  for (const auto& entry : entries) {
    const bool born = find(*entry) == nullptr;
    now.push_back({entry->pid, entry->sample.parent_pid, entry->start_ticks, entry->family, born});
    if (!born) continue;
    moved_.insert({entry->pid, entry->sample.parent_pid});
    moved_families_.insert(entry->family);
  }
  for (const Known& before : known_) {
    const ProcessEntry* const entry = find_entry(entries, before.pid);
    if (entry != nullptr && entry->start_ticks == before.start_ticks) continue;
    moved_.insert(before.parent_pid);
    moved_families_.insert(before.family);
  }
  known_.swap(now);
}

const Relatives::Known* Relatives::find(const ProcessEntry& entry) const {
  const Known* const found = find_sorted(known_, entry.pid, &Known::pid);
  return found != nullptr && found->start_ticks == entry.start_ticks ? found : nullptr;
}

}  // namespace memoir
