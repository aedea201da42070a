#include "collect/process/process_table.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "collect/looks.h"
#include "collect/process/due.h"
#include "proc/pid_stat.h"
#include "proc/status.h"

namespace memoir {
namespace {

using F = ProcessField;

constexpr F kFirstOfStatus = static_cast<F>(kRollupFields);

bool is_gone(const Error& error) {
  return error.kind == ErrorKind::gone;
}

bool differ(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b && *a != *b;
}

// What stands beside the memory, whoever tells it: a StatusHead or a CensusProcess. `before`: the memory of the tick
// before; that of `entry` is this tick's.
template <typename Head>
void take_head(ProcessEntry& entry, std::string_view name, const Head& head, const ProcessMemory& before) {
  ProcessSample& sample = entry.sample;
  sample.state = head.state;
  sample.parent_pid = head.parent_pid;
  sample.threads = head.threads;
  const auto old_peak = before.get(F::vm_peak);
  const auto peak = sample.memory.get(F::vm_peak);
  entry.change.comm = entry.name != name;
  entry.change.code_size = differ(before.get(F::vm_exe), sample.memory.get(F::vm_exe));
  entry.change.peak_fell = old_peak && peak && *peak < *old_peak;
  entry.change.uid = entry.uid != head.uid;
  if (entry.change.comm) entry.name = name;
  entry.uid = head.uid;
}

}  // namespace

void ProcessTable::update(const std::vector<std::int32_t>& pids, const std::vector<CensusProcess>* census, Pass& pass) {
  next_.clear();
  next_threads_.clear();
  auto entry = entries_.begin();
  auto thread = threads_.begin();
  const std::span<const CensusProcess> all = census != nullptr ? *census : std::span<const CensusProcess>();
  const bool whole = !all.empty() && all.front().whole;
  auto row = all.begin();
  for (const std::int32_t pid : pids) {
    for (; entry != entries_.end() && (*entry)->pid < pid; ++entry) exited(**entry, pass);
    while (thread != threads_.end() && thread->pid < pid) ++thread;
    while (row != all.end() && row->pid < pid) ++row;
    const CensusProcess* const seen = row != all.end() && row->pid == pid ? &*row : nullptr;
    if (thread != threads_.end() && thread->pid == pid) {
      KernelThread& known = *thread++;
      if (seen == nullptr && (census != nullptr || is_kernel_thread(known, pass.buffer))) {
        if (census != nullptr) known.statm.close();
        next_threads_.push_back(std::move(known));
        continue;
      }
    } else if (entry != entries_.end() && (*entry)->pid == pid) {
      std::unique_ptr<ProcessEntry>& known = *entry++;
      if (update(*known, seen, pass)) {
        next_.push_back(std::move(known));
        continue;
      }
      exited(*known, pass);
      if (whole && seen == nullptr) continue;
    }
    if (seen != nullptr && seen->whole) {
      birth(*seen, pass);
    } else {
      birth(pid, pass);
    }
  }
  for (; entry != entries_.end(); ++entry) exited(**entry, pass);
  entries_.swap(next_);
  threads_.swap(next_threads_);
  next_.clear();
  next_threads_.clear();
  pass.tick.counts.kernel_threads = static_cast<std::int64_t>(threads_.size());
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

// False: it is gone, or another has its pid.
bool ProcessTable::update(ProcessEntry& entry, const CensusProcess* seen, Pass& pass) {
  entry.wrote_kib = kAnyKib;
  if (seen == nullptr) return refresh(entry, pass);
  if (entry.start_ticks != seen->start_ticks) return false;
  if (seen->whole) {
    take_census(entry, *seen, pass);
    return true;
  }
  const bool moved = std::exchange(entry.statm, seen->statm) != seen->statm;
  if (moved || status_due(entry.pid, entry.status_read_ms, pass.tick.begin.boot_ms)) return refresh(entry, pass);
  keep_status(entry, pass);
  return true;
}

// What it said last still holds.
void ProcessTable::keep_status(ProcessEntry& entry, const Pass& pass) {
  entry.rollup_due = rollup_due(pass.tick.keyframe, entry.fresh ? nullptr : &entry.sample, entry.denied);
  entry.change = {};
  if (entry.sample.source != Source::held) entry.stand_in();
}

// statm of a kernel thread is all zeros, "0 0 0 0 0 0 0"; one that becomes a user process (a helper that the kernel
// starts) gets a size.
bool ProcessTable::is_kernel_thread(KernelThread& thread, Buffer& buffer) {
  const auto text = thread.statm.read([&] { return proc_->open(thread.pid, PidFile::statm); }, buffer);
  return text && text->starts_with("0 ");
}

void ProcessTable::exited(const ProcessEntry& entry, Pass& pass) {
  Looks::end(entry, pass.tick.extremes);
  pass.tick.exits.push_back({entry.info.key, ExitKind::exited});
  ++pass.tick.counts.exited;
}

// stat tells the identity, and is read again after the status: the same start time says that all is of one process.
void ProcessTable::birth(std::int32_t pid, Pass& pass) {
  const auto missed = [&](const Error& error) {
    if (is_gone(error)) {
      ++pass.tick.counts.vanished;
    } else if (error.kind == ErrorKind::denied) {
      ++pass.tick.counts.denied;
    } else {
      pass.note_malformed(pid, error);
    }
  };
  const auto stat = read_pid_stat(*proc_, pid, check_);
  if (!stat) return missed(stat.error());
  if (stat->kernel_thread()) {
    KernelThread thread{pid, KeptFile(budget_)};
    if (!is_kernel_thread(thread, pass.buffer)) return missed(Error{ErrorKind::gone, {}});
    next_threads_.push_back(std::move(thread));
    return;
  }
  auto entry = std::make_unique<ProcessEntry>(pid, stat->start_ticks, budget_);
  entry->sample.state = stat->state;
  entry->sample.parent_pid = stat->parent_pid;
  entry->sample.threads = stat->threads;
  entry->name = stat->comm;
  if (!refresh(*entry, pass)) return missed(Error{ErrorKind::gone, {}});
  entry->change = {};
  next_.push_back(std::move(entry));
}

bool ProcessTable::refresh(ProcessEntry& entry, Pass& pass) {
  entry.rollup_due = rollup_due(pass.tick.keyframe, entry.fresh ? nullptr : &entry.sample, entry.denied);
  entry.status_read_ms.reset();
  const bool was_kept = entry.status.kept();
  const auto text = entry.status.read([&] { return proc_->open(entry.pid, PidFile::status); }, pass.buffer);
  if (!text && is_gone(text.error())) return false;
  // What was opened by path may be another process's that has the pid now.
  if (!was_kept) {
    const auto start_ticks = read_start_ticks(*proc_, entry.pid, check_);
    if (!start_ticks || *start_ticks != entry.start_ticks) return false;
  }
  if (text) return take_status(entry, *text, pass);
  pass.note_malformed(entry.pid, text.error());
  entry.sample.memory = {};
  entry.sample.source = Source::inaccessible;
  return true;
}

bool ProcessTable::take_status(ProcessEntry& entry, std::string_view text, Pass& pass) {
  const ProcessMemory before = entry.sample.memory;
  const auto head = parse_status(text, entry.sample.memory);
  if (!head && is_gone(head.error())) return false;
  if (head) {
    entry.status_read_ms = pass.tick.begin.boot_ms;
    take_head(entry, unescape_name(head->name), *head, before);
  } else {
    entry.change = {};
    pass.note_malformed(entry.pid, head.error());
  }
  entry.stand_in();
  return true;
}

void ProcessTable::birth(const CensusProcess& seen, const Pass& pass) {
  auto entry = std::make_unique<ProcessEntry>(seen.pid, seen.start_ticks, budget_);
  take_census(*entry, seen, pass);
  entry->change = {};
  next_.push_back(std::move(entry));
}

void ProcessTable::take_census(ProcessEntry& entry, const CensusProcess& seen, const Pass& pass) {
  entry.rollup_due = rollup_due(pass.tick.keyframe, entry.fresh ? nullptr : &entry.sample, entry.denied);
  // Most stand still: of them all is known already.
  const bool still =
      entry.sample.source == Source::held && entry.sample.memory.same_part(seen.memory, kFirstOfStatus, kStatusFields);
  const ProcessMemory before = entry.sample.memory;
  entry.sample.memory.copy_part(seen.memory, kFirstOfStatus, kStatusFields);
  const auto faulted_before = std::exchange(entry.faulted_kib, seen.faulted_kib);
  entry.wrote_kib = faulted_before && seen.faulted_kib ? std::abs(*seen.faulted_kib - *faulted_before) : kAnyKib;
  entry.status.close();
  take_head(entry, seen.comm, seen, before);
  if (!still) entry.stand_in();
}

void ProcessTable::drop_lost(Pass& pass) {
  std::erase_if(entries_, [&](const std::unique_ptr<ProcessEntry>& entry) {
    if (!entry->lost) return false;
    ++pass.tick.counts.vanished;
    if (!entry->fresh) exited(*entry, pass);
    return true;
  });
}

// A kept status is worth more than a kept rollup: the cost of opening it is as large as that of reading it. So rollups
// are closed for those that have none, which take the slots at the next tick. A census by /proc takes its own first.
void ProcessTable::share_descriptors(bool census) {
  auto missing =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) { return !entry->status.kept(); });
  if (!census) {
    missing += std::count_if(threads_.begin(), threads_.end(), [](const auto& thread) { return !thread.statm.kept(); });
  }
  short_of_descriptors_ = missing > 0;
  for (const auto& entry : entries_) {
    if (missing == 0) break;
    if (!entry->rollup_slot || entry->rollup->held()) continue;
    entry->close_rollup();
    --missing;
  }
}

}  // namespace memoir
