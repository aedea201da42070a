#include "collect/process_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "collect/approximation.h"
#include "proc/pid_stat.h"
#include "proc/status.h"

namespace memoir {
namespace {

using F = ProcessField;

bool is_gone(const Error& error) {
  return error.kind == ErrorKind::gone;
}

bool differ(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b && *a != *b;
}

}  // namespace

void ProcessTable::update(const std::vector<std::int32_t>& pids, Pass& pass) {
  next_.clear();
  next_threads_.clear();
  auto entry = entries_.begin();
  auto thread = threads_.begin();
  for (const std::int32_t pid : pids) {
    for (; entry != entries_.end() && (*entry)->pid < pid; ++entry) exited(**entry, pass);
    while (thread != threads_.end() && thread->pid < pid) ++thread;
    if (thread != threads_.end() && thread->pid == pid) {
      KernelThread& known = *thread++;
      if (is_kernel_thread(known, pass.buffer)) {
        next_threads_.push_back(std::move(known));
        continue;
      }
    } else if (entry != entries_.end() && (*entry)->pid == pid) {
      std::unique_ptr<ProcessEntry>& known = *entry++;
      if (refresh(*known, pass)) {
        next_.push_back(std::move(known));
        continue;
      }
      exited(*known, pass);
    }
    birth(pid, pass);
  }
  for (; entry != entries_.end(); ++entry) exited(**entry, pass);
  entries_.swap(next_);
  threads_.swap(next_threads_);
  next_.clear();
  next_threads_.clear();
  pass.tick.counts.kernel_threads = static_cast<std::int64_t>(threads_.size());
  share_descriptors();
}

// statm of a kernel thread is all zeros, "0 0 0 0 0 0 0"; one that becomes a user process (a helper that the kernel
// starts) gets a size.
bool ProcessTable::is_kernel_thread(KernelThread& thread, Buffer& buffer) {
  const auto text = thread.statm.read([&] { return proc_->open(thread.pid, PidFile::statm); }, buffer);
  return text && text->starts_with("0 ");
}

void ProcessTable::exited(const ProcessEntry& entry, Pass& pass) {
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
  const auto stat_text = read_file(proc_->path(pid, PidFile::stat), check_);
  if (!stat_text) return missed(stat_text.error());
  if (stat_text->empty()) return missed(Error{ErrorKind::gone, {}});
  const auto stat = parse_pid_stat(*stat_text);
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
  entry.plan = plan_reads(pass.tick.keyframe, entry.fresh ? nullptr : &entry.sample, entry.denied);
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
  ProcessSample& sample = entry.sample;
  const auto old_peak = sample.memory.get(F::vm_peak);
  const auto old_code = sample.memory.get(F::vm_exe);
  const auto head = parse_status(text, sample.memory);
  if (!head && is_gone(head.error())) return false;
  if (head) {
    sample.state = head->state;
    sample.parent_pid = head->parent_pid;
    sample.threads = head->threads;
    const auto peak = sample.memory.get(F::vm_peak);
    entry.change.comm = entry.name != head->name;
    entry.change.code_size = differ(old_code, sample.memory.get(F::vm_exe));
    entry.change.peak_fell = old_peak && peak && *peak < *old_peak;
    entry.change.uid = entry.uid != head->uid;
    if (entry.change.comm) entry.name = head->name;
    entry.uid = head->uid;
  } else {
    entry.change = {};
    pass.note_malformed(entry.pid, head.error());
  }
  approximate(sample);
  return true;
}

void ProcessTable::drop_lost(Pass& pass) {
  const auto lost = [&](const std::unique_ptr<ProcessEntry>& entry) {
    if (!entry->lost) return false;
    ++pass.tick.counts.vanished;
    if (!entry->fresh) exited(*entry, pass);
    return true;
  };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), lost), entries_.end());
}

// A kept status is worth more than a kept rollup: the cost of opening it is as large as that of reading it. So rollups
// are closed for those that have none, which take the slots at the next tick.
void ProcessTable::share_descriptors() {
  auto missing =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) { return !entry->status.kept(); });
  missing += std::count_if(threads_.begin(), threads_.end(), [](const auto& thread) { return !thread.statm.kept(); });
  short_of_descriptors_ = missing > 0;
  for (const auto& entry : entries_) {
    if (missing == 0) break;
    if (!entry->rollup_slot || entry->rollup->held()) continue;
    entry->close_rollup();
    --missing;
  }
}

}  // namespace memoir
