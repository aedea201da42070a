#include "collect/process/process_table.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "collect/process/due.h"
#include "collect/scan_tracker.h"
#include "proc/pid_stat.h"
#include "proc/status.h"

namespace memoir {
namespace {

using F = ProcessField;

constexpr F kFirstOfStatus = static_cast<F>(kRollupFields);

bool is_gone(const Error& error) {
  return error.kind == ErrorKind::not_found;
}

bool differ(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b && *a != *b;
}

// Sets a value unless the new one is odd (nullopt); then the last known value stays.
template <typename T>
void take_known(std::optional<T> now, T& value) {
  if (now) value = *now;
}

// Takes everything except memory from a StatusHead or a CensusProcess. `before` is the memory at the previous tick;
// `entry` already has the memory of this tick.
template <typename Head>
void take_head(ProcessEntry& entry, std::optional<std::string_view> name, const Head& head,
               const ProcessMemory& before) {
  ProcessSample& sample = entry.sample;
  const std::uint32_t old_uid = entry.uid;
  take_known<char>(head.state, sample.state);
  take_known<std::int32_t>(head.parent_pid, sample.parent_pid);
  take_known<std::int32_t>(head.threads, sample.threads);
  take_known<std::uint32_t>(head.uid, entry.uid);
  const auto old_peak = before.get(F::vm_peak);
  const auto peak = sample.memory.get(F::vm_peak);
  entry.change.comm = name && entry.name != *name;
  entry.change.code_size = differ(before.get(F::vm_exe), sample.memory.get(F::vm_exe));
  entry.change.peak_fell = old_peak && peak && *peak < *old_peak;
  entry.change.uid = entry.uid != old_uid;
  if (entry.change.comm) entry.name = *name;
}

}  // namespace

void ProcessTable::update(const std::vector<std::int32_t>& pids, const std::vector<CensusProcess>* census,
                          CollectContext& context) {
  next_.clear();
  next_threads_.clear();
  auto entry = entries_.begin();
  auto thread = threads_.begin();
  const std::span<const CensusProcess> all = census != nullptr ? *census : std::span<const CensusProcess>();
  const bool whole = !all.empty() && all.front().whole;
  auto row = all.begin();
  for (const std::int32_t pid : pids) {
    for (; entry != entries_.end() && (*entry)->pid < pid; ++entry) exited(**entry, context);
    while (thread != threads_.end() && thread->pid < pid) ++thread;
    while (row != all.end() && row->pid < pid) ++row;
    const CensusProcess* const seen = row != all.end() && row->pid == pid ? &*row : nullptr;
    if (thread != threads_.end() && thread->pid == pid) {
      KernelThread& known = *thread++;
      if (seen == nullptr && (census != nullptr || is_kernel_thread(known, context.buffer))) {
        if (census != nullptr) known.statm.close();
        next_threads_.push_back(std::move(known));
        continue;
      }
    } else if (entry != entries_.end() && (*entry)->pid == pid) {
      std::unique_ptr<ProcessEntry>& known = *entry++;
      if (update(*known, seen, context)) {
        next_.push_back(std::move(known));
        continue;
      }
      exited(*known, context);
      if (whole && seen == nullptr) continue;
    }
    if (seen != nullptr && seen->whole) {
      birth(*seen, context);
    } else {
      birth(pid, context);
    }
  }
  for (; entry != entries_.end(); ++entry) exited(**entry, context);
  entries_.swap(next_);
  threads_.swap(next_threads_);
  next_.clear();
  next_threads_.clear();
  context.tick.counts.kernel_threads = static_cast<std::int64_t>(threads_.size());
  if (!whole) share_descriptors(census != nullptr);
}

void ProcessTable::add_known(std::vector<std::int32_t>& pids) const {
  const auto merge = [&](const auto& those, auto pid) {
    const auto middle = static_cast<std::ptrdiff_t>(pids.size());
    std::ranges::transform(those, std::back_inserter(pids), pid);
    std::ranges::inplace_merge(pids, pids.begin() + middle);
  };
  merge(entries_, [](const auto& entry) { return entry->pid; });
  merge(threads_, &KernelThread::pid);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
}

// Returns false if the process has exited, or its pid belongs to another process.
bool ProcessTable::update(ProcessEntry& entry, const CensusProcess* seen, CollectContext& context) {
  entry.wrote_kib = kAnyKib;
  if (seen == nullptr) return refresh(entry, context);
  if (entry.start_ticks != seen->start_ticks) return false;
  if (seen->whole) {
    take_census(entry, *seen, context);
    return true;
  }
  const bool moved = std::exchange(entry.statm, seen->statm) != seen->statm;
  const bool due = status_due(entry.pid, entry.status_read_ms, context.tick.begin.boot_ms);
  if (moved || due || entry.thread != 0) return refresh(entry, context);
  keep_status(entry, context);
  return true;
}

// Keeps the last values of status, which are still valid.
void ProcessTable::keep_status(ProcessEntry& entry, const CollectContext& context) {
  entry.rollup_due = rollup_due(context.tick.keyframe, entry.fresh ? nullptr : &entry.sample, entry.denied);
  entry.change = {};
  if (entry.sample.source != Source::held) entry.stand_in();
}

// The statm of a kernel thread is "0 0 0 0 0 0 0". A kernel thread that becomes a user process (a usermode helper) gets
// a size.
bool ProcessTable::is_kernel_thread(KernelThread& thread, Buffer& buffer) {
  const auto text = thread.statm.read([&] { return proc_->open(thread.pid, PidFile::statm); }, buffer);
  return text && text->starts_with("0 ");
}

void ProcessTable::exited(const ProcessEntry& entry, CollectContext& context) {
  ScanTracker::end(entry, context.tick.extremes);
  context.tick.exits.push_back({entry.info.key, ExitKind::exited});
  ++context.tick.counts.exited;
  if (entry.mapper) context.exited.push_back(*entry.mapper);
}

// Adds a new process. stat is read before and after the status: an equal start time means that both are of the same
// process.
void ProcessTable::birth(std::int32_t pid, CollectContext& context) {
  const auto missed = [&](const Error& error) {
    if (is_gone(error)) {
      ++context.tick.counts.vanished;
    } else if (error.kind == ErrorKind::denied) {
      ++context.tick.counts.denied;
    } else {
      context.note_malformed(error);
    }
  };
  const auto stat = read_pid_stat(*proc_, pid, check_, &context.tick.odd_lines);
  if (!stat) return missed(stat.error());
  if (stat->kernel_thread()) {
    KernelThread thread{pid, CachedFile(budget_)};
    if (!is_kernel_thread(thread, context.buffer)) return missed(Error{ErrorKind::not_found, {}});
    next_threads_.push_back(std::move(thread));
    return;
  }
  auto entry = std::make_unique<ProcessEntry>(pid, stat->start_ticks, budget_);
  take_known(stat->state, entry->sample.state);
  take_known(stat->parent_pid, entry->sample.parent_pid);
  take_known(stat->threads, entry->sample.threads);
  entry->name = stat->comm;
  if (!refresh(*entry, context)) return missed(Error{ErrorKind::not_found, {}});
  entry->change = {};
  next_.push_back(std::move(entry));
}

bool ProcessTable::refresh(ProcessEntry& entry, CollectContext& context) {
  entry.rollup_due = rollup_due(context.tick.keyframe, entry.fresh ? nullptr : &entry.sample, entry.denied);
  entry.status_read_ms.reset();
  const bool was_kept = entry.status.kept();
  const auto text = entry.status.read([&] { return proc_->open(entry.pid, PidFile::status); }, context.buffer);
  if (!text && is_gone(text.error())) return false;
  // If the file was opened now, the pid may belong to another process.
  if (!was_kept) {
    const auto start_ticks = read_start_ticks(*proc_, entry.pid, check_);
    if (!start_ticks || *start_ticks != entry.start_ticks) return false;
  }
  if (text) return take_status(entry, *text, context);
  context.note_malformed(malformed("status: " + text.error().message));
  entry.sample.memory = {};
  entry.sample.source = Source::inaccessible;
  entry.sample.read_boot_ms.reset();
  return true;
}

bool ProcessTable::take_status(ProcessEntry& entry, std::string_view text, CollectContext& context) {
  const ProcessMemory before = entry.sample.memory;
  const auto head = parse_status(text, entry.sample.memory, &context.tick.odd_lines);
  if (!head && is_gone(head.error())) return false;
  if (head) {
    entry.status_read_ms = context.tick.begin.boot_ms;
    const auto name = head->name ? std::optional(unescape_name(*head->name)) : std::nullopt;
    take_head(entry, name, *head, before);
  } else {
    entry.change = {};
    context.note_malformed(head.error());
  }
  read_thread(entry, context);
  entry.stand_in();
  return true;
}

// The main thread may exit before the others. It then looks like a zombie, and the process's values are in the files of
// the threads that still run.
void ProcessTable::read_thread(ProcessEntry& entry, CollectContext& context) {
  constexpr std::size_t max_tried = 16;
  entry.thread = 0;
  if (entry.sample.state != 'Z' || entry.sample.threads < 2 || !proc_->list_threads(entry.pid, tids_)) return;
  for (std::size_t i = 0; i < std::min(tids_.size(), max_tried); ++i) {
    const auto text = read_file(proc_->path(entry.pid, PidFile::status, tids_[i]), check_);
    ProcessMemory memory;
    const auto head = text ? parse_status(*text, memory, &context.tick.odd_lines) : Result<StatusHead>(text.error());
    if (!head || head->state == 'Z' || head->state == 'X' || !memory.has(F::vm_rss)) continue;
    entry.thread = tids_[i];
    entry.sample.memory.copy_part(memory, kFirstOfStatus, kStatusFields);
    take_known<char>(head->state, entry.sample.state);
    return;
  }
}

void ProcessTable::birth(const CensusProcess& seen, CollectContext& context) {
  auto entry = std::make_unique<ProcessEntry>(seen.pid, seen.start_ticks, budget_);
  take_census(*entry, seen, context);
  entry->change = {};
  next_.push_back(std::move(entry));
}

void ProcessTable::take_census(ProcessEntry& entry, const CensusProcess& seen, CollectContext& context) {
  entry.rollup_due = rollup_due(context.tick.keyframe, entry.fresh ? nullptr : &entry.sample, entry.denied);
  // For most processes nothing has changed, so their sample stays valid.
  const bool still =
      entry.sample.source == Source::held && entry.sample.memory.same_part(seen.memory, kFirstOfStatus, kStatusFields);
  const ProcessMemory before = entry.sample.memory;
  entry.sample.memory.copy_part(seen.memory, kFirstOfStatus, kStatusFields);
  const auto faulted_before = std::exchange(entry.faulted_kib, seen.faulted_kib);
  entry.wrote_kib = faulted_before && seen.faulted_kib ? std::abs(*seen.faulted_kib - *faulted_before) : kAnyKib;
  entry.status.close();
  take_head(entry, std::string_view(seen.comm), seen, before);
  read_thread(entry, context);
  if (!still) entry.stand_in();
}

void ProcessTable::drop_lost(CollectContext& context) {
  std::erase_if(entries_, [&](const std::unique_ptr<ProcessEntry>& entry) {
    if (!entry->lost) return false;
    ++context.tick.counts.vanished;
    if (!entry->fresh) exited(*entry, context);
    return true;
  });
}

// A kept status saves more than a kept rollup, because opening a status costs as much as reading it. So rollups are
// closed if some processes have no kept status, which then get the slots at the next tick. A /proc census takes its own
// slots first.
void ProcessTable::share_descriptors(bool census) {
  auto missing =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) { return !entry->status.kept(); });
  if (!census) {
    missing += std::count_if(threads_.begin(), threads_.end(), [](const auto& thread) { return !thread.statm.kept(); });
  }
  short_of_descriptors_ = missing > 0;
  for (const auto& entry : entries_) {
    if (missing == 0) break;
    if (!entry->rollup_slot || entry->rollup->is_stuck()) continue;
    entry->close_rollup();
    --missing;
  }
}

}  // namespace memoir
