#include "collect/process/process_details.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

using F = ProcessField;

bool full_identity_read(const ProcessEntry& entry) {
  const IdentityJob* const job = entry.identity.get();
  return job != nullptr && !job->cgroup_only() && job->done() && job->valid();
}

// A keyframe makes all cgroups due. Their reads are spread over the following ticks: per tick 1/kCgroupsPart of the
// processes, but at least kCgroupsAtOnce.
constexpr std::size_t kCgroupsAtOnce = 64;
constexpr std::size_t kWaitingOfUser = 256;
constexpr std::size_t kCgroupsPart = 60;

constexpr std::int64_t kLeaveOutFirstMs = 10'000;
constexpr std::int64_t kLeaveOutMostMs = 3'600'000;

}  // namespace

ProcessDetails::ProcessDetails(std::shared_ptr<const ProcFs> proc, ProcessTable& table, ProcessResolver& identifier,
                               CategoryTotals& totals, std::chrono::milliseconds deadline)
    : proc_(std::move(proc)), table_(table), identifier_(identifier), totals_(totals), reader_(deadline) {}

void ProcessDetails::run(CollectContext& context, Jobs others) {
  others_read_ = 0;
  others_denied_ = 0;
  identifier_.commands()->begin_tick(context.tick.begin.boot_ms * 1000);
  texts_.begin_tick();
  reader_.begin(context.tick.begin.boot_ms * 1000);
  CostSpan span;
  // Identities are read first, so that they are available even if reading the memory takes long.
  Jobs jobs = std::move(others);
  waiting_.clear();
  cgroups_left_ = std::max(kCgroupsAtOnce, table_.entries().size() / kCgroupsPart);
  for (const auto& entry : table_.entries()) {
    begin(*entry, context.tick.keyframe);
    ask_identity(*entry, jobs, context);
  }
  span.add_to(context.tick.cost, CostKind::identity);
  context.tick.total.cpu_us += reader_.run(std::exchange(jobs, {}), context.tick.cost);

  span = CostSpan();
  jobs.reserve(table_.entries().size());
  for (const auto& entry : table_.entries()) ask_rollup(*entry, jobs, context);
  span.add_to(context.tick.cost, CostKind::rollup);
  context.tick.total.cpu_us += reader_.run(std::exchange(jobs, {}), context.tick.cost);

  span = CostSpan();
  for (const auto& entry : table_.entries()) take_rollup(*entry, context);
  table_.drop_lost(context);
  span.add_to(context.tick.cost, CostKind::rollup);

  identifier_.take_users();
  for (const auto& entry : table_.entries()) {
    find_exec(*entry);
    if (entry->execed && !full_identity_read(*entry)) ask_identity(*entry, jobs, context);
  }
  span.add_to(context.tick.cost, CostKind::identity);
  context.tick.total.cpu_us += reader_.run(std::move(jobs), context.tick.cost);

  span = CostSpan();
  const auto is_fresh = [](const auto& entry) { return entry->fresh; };
  context.tick.born.reserve(static_cast<std::size_t>(std::ranges::count_if(table_.entries(), is_fresh)));
  for (const auto& entry : table_.entries()) take_identity(*entry, context);
  for (const auto& [uid, count] : identifier_.commands()->deferred()) context.note_blocked(uid, count);
  span.add_to(context.tick.cost, CostKind::identity);
}

void ProcessDetails::begin(ProcessEntry& entry, bool keyframe) {
  entry.execed = false;
  entry.blocked = false;
  entry.rollup_asked = false;
  if (entry.change.maybe_execed() || entry.change.uid || entry.has_exec_event) entry.identity_due = true;
  if (keyframe) entry.cgroup_due = true;
  if (entry.change.uid) entry.user_due = true;
  // A zombie has no arguments and no executable, so the known values stay.
  if (entry.sample.state == 'Z' && !entry.fresh) entry.identity_due = false;
}

// Returns whether no file of the process may be read now.
bool ProcessDetails::left_out(ProcessEntry& entry, const BlockingJob* job, const CollectContext& context) {
  const bool out = (job != nullptr && job->is_stuck()) || context.tick.begin.boot_ms < entry.left_out_until_ms;
  entry.blocked |= out;
  return out;
}

// Skips the process for a while after a slow read, because the next one is likely to be slow too.
void ProcessDetails::leave_out(ProcessEntry& entry, const CollectContext& context) {
  entry.blocked = true;
  entry.leave_out_ms = std::clamp(2 * entry.leave_out_ms, kLeaveOutFirstMs, kLeaveOutMostMs);
  entry.left_out_until_ms = context.tick.begin.boot_ms + entry.leave_out_ms;
}

void ProcessDetails::ask_rollup(ProcessEntry& entry, Jobs& jobs, CollectContext& context) {
  if (entry.identity_held() && !entry.blocked) leave_out(entry, context);
  if (!entry.has_memory()) return;
  const bool another = entry.change.maybe_execed() || entry.change.uid;
  if (!entry.rollup_due && !(entry.denied && another)) {
    if (entry.denied) count_denied(entry, context);
    return;
  }
  if (entry.rollup == nullptr) entry.rollup = std::make_shared<RollupJob>(proc_, entry.pid, entry.start_ticks);
  if (left_out(entry, entry.rollup.get(), context)) return entry.doubt();
  if (!entry.rollup_slot) entry.rollup_slot = table_.take_rollup_slot();
  entry.rollup->prepare(entry.rollup_slot, entry.change.maybe_execed(), entry.thread);
  entry.rollup_asked = true;
  entry.rollup->set_owner(entry.uid);
  jobs.push_back(entry.rollup);
}

void ProcessDetails::ask_identity(ProcessEntry& entry, Jobs& jobs, const CollectContext& context) {
  if (entry.user_due) {
    if (auto job = identifier_.ask_user(entry.uid)) jobs.push_back(std::move(job));
  }
  const bool cgroup = entry.cgroup_due && cgroups_left_ > 0;
  const bool identity = entry.identity_due && !waits_in_vain(entry);
  if (!identity && !cgroup) return;
  if (left_out(entry, entry.identity.get(), context)) return;
  entry.identity = std::make_shared<IdentityJob>(
      proc_, entry.pid, entry.thread, entry.start_ticks, entry.uid, identity ? identifier_.commands() : nullptr,
      identifier_.name_redactor(), !entry.execed && identifier_.knows_command(entry));
  if (cgroup) --cgroups_left_;
  entry.cgroup_due = false;
  jobs.push_back(entry.identity);
}

// Returns whether reading the identity would be useless: only the command line is unknown, and enough command lines are
// already requested to exhaust the user's budget.
bool ProcessDetails::waits_in_vain(const ProcessEntry& entry) {
  const bool changed = entry.change.maybe_execed() || entry.change.uid || entry.has_exec_event || entry.execed;
  if (changed || !entry.command_due) return false;
  return ++waiting_[entry.uid] > kWaitingOfUser;
}

void ProcessDetails::take_rollup(ProcessEntry& entry, CollectContext& context) {
  if (!entry.rollup_asked) return;
  RollupJob& job = *entry.rollup;
  if (job.is_stuck()) leave_out(entry, context);
  entry.blocked |= !job.done();
  if (entry.blocked) return entry.doubt();
  entry.leave_out_ms /= 2;
  if (entry.rollup_slot && !job.kept()) entry.close_rollup();
  context.tick.odd_lines.add(job.odd());
  entry.denied = false;
  if (!job.read()) {
    take_failure(entry, context);
    return;
  }
  if (job.replaced()) {
    // Either the process runs another image, or another process has its pid. Its status, which may be that of the
    // previous image, is read again to find out.
    const StatusChange before = entry.change;
    if (!table_.refresh(entry, context)) {
      entry.lost = true;
      return;
    }
    // The process changed after its status was read, so its identity may be that of the previous image.
    if (entry.change.maybe_execed() && !entry.identity_held()) entry.identity.reset();
    entry.change.uid |= before.uid;
    entry.execed = !entry.fresh;
    if (entry.execed) entry.identity_due = true;
    if (entry.change.uid) entry.user_due = true;
  }
  take_exact(entry, context);
  if (entry.uid != own_uid_) ++others_read_;
}

void ProcessDetails::take_exact(ProcessEntry& entry, CollectContext& context) {
  ProcessSample& sample = entry.sample;
  const std::int64_t thought_kib = sample.memory.or_zero(F::pss);
  const bool estimated = std::exchange(sample.source, Source::exact) == Source::estimated;
  sample.read_boot_ms = context.tick.begin.boot_ms;
  sample.memory.copy_part(*entry.rollup->take_memory(), F{}, kRollupFields);
  const std::int64_t read_kib = sample.memory.or_zero(F::pss);
  ExactReading now{sample.memory, context.tick.begin.boot_ms, entry.rollup->used()};
  if (!sample.memory.has(F::pss)) {  // the line is odd, so there is no value to carry forward
    entry.exact.reset();
    context.tick.reads.take(now.cost);
    return;
  }
  const bool another = entry.change.maybe_execed() || entry.has_exec_event;
  if (const auto& last = entry.exact; last && !another) {
    const std::int64_t touched = entry.touched_kib(now.at_ms);
    now.wrong_part = learn(last->wrong_part, touched, std::abs(thought_kib - read_kib));
  }
  if (estimated) context.tick.reads.check(thought_kib, read_kib);
  entry.exact = now;
  entry.confirm();
  context.tick.reads.take(entry.exact->cost);
}

void ProcessDetails::count_denied(const ProcessEntry& entry, CollectContext& context) {
  ++context.tick.counts.denied;
  if (entry.uid != own_uid_) ++others_denied_;
}

void ProcessDetails::take_failure(ProcessEntry& entry, CollectContext& context) {
  const Error& error = entry.rollup->failure();
  entry.denied = error.kind == ErrorKind::denied;
  if (entry.denied) {
    entry.exact.reset();
    entry.stand_in();
    count_denied(entry, context);
  } else {
    context.note_malformed(error);
  }
}

// Applies the rules at the top of process_details.h, except for an empty rollup, which is already handled.
void ProcessDetails::find_exec(ProcessEntry& entry) const {
  if (entry.fresh || entry.execed || !(entry.has_exec_event || entry.change.maybe_execed())) return;
  entry.execed = entry.has_exec_event || entry.change.peak_fell || runs_another(entry);
  if (!entry.execed || (entry.rollup_asked && entry.rollup->done() && entry.rollup->read())) return;
  entry.exact.reset();
  entry.stand_in();
}

bool ProcessDetails::runs_another(const ProcessEntry& entry) const {
  if (!full_identity_read(entry)) return false;
  const ProcessInfo now = identifier_.describe(entry);
  return now.exe.empty() ? entry.change.comm && now.command != entry.info.command
                         : !entry.info.exe.empty() && now.exe != entry.info.exe;
}

void ProcessDetails::take_identity(ProcessEntry& entry, CollectContext& context) {
  const IdentityJob* const job = entry.identity.get();
  const bool answered = job != nullptr && job->done();
  if (entry.blocked || (job != nullptr && !answered)) context.note_blocked(entry.uid);
  const bool user_found = entry.user_due && identifier_.knows_user(entry.uid);
  if (answered) context.tick.odd_lines.add(job->odd());
  if (answered && job->command()) entry.identity_due = false;
  if (full_identity_read(entry)) {
    entry.command_due = !job->command() && (entry.command_due || !ProcessResolver::keeps_program(entry));
  }
  if (user_found) entry.user_due = false;
  if (entry.fresh || entry.execed || answered || user_found || entry.changed) {
    report(entry, identifier_.describe(entry), context);
  }
  if (job != nullptr && !job->is_stuck()) entry.identity.reset();
}

// Adds the process to the tick's `born` if it is new or its description has changed.
void ProcessDetails::report(ProcessEntry& entry, ProcessInfo info, CollectContext& context) {
  TickCounts& counts = context.tick.counts;
  texts_.fit(info, entry.fresh ? nullptr : &entry.info, table_.entries());
  const bool fits = identifier_.fit(info, entry, context.tick.begin.boot_ms);
  if (entry.fresh) {
    identifier_.begin(entry, context.tick.begin, info);
    ++counts.born;
  } else if (entry.execed && !fits) {
    // A user whose budget is exhausted gets no new row for the new image.
    ++counts.execed;
  } else if (entry.execed) {
    context.tick.exits.push_back({entry.info.key, ExitKind::execed});
    ++info.key.exec_count;
    info.parent_pid = entry.sample.parent_pid;
    ++counts.execed;
  } else if (!entry.changed && info == entry.info) {
    return;
  }
  entry.fresh = false;
  entry.changed = false;
  entry.sample.key = info.key;
  entry.category = totals_.slot(info.category);
  entry.info = std::move(info);
  context.tick.born.push_back(entry.info);
}

}  // namespace memoir
