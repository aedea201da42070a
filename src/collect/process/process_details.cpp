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

// At a keyframe all cgroups are due. They are spread over the ticks that follow: one in so many of the processes, but
// as many as these, at each.
constexpr std::size_t kCgroupsAtOnce = 64;
constexpr std::size_t kCgroupsPart = 60;

constexpr std::int64_t kLeaveOutFirstMs = 10'000;
constexpr std::int64_t kLeaveOutMostMs = 3'600'000;

}  // namespace

ProcessDetails::ProcessDetails(std::shared_ptr<const ProcFs> proc, ProcessTable& table, Identifier& identifier,
                               CategoryTotals& totals, std::chrono::milliseconds deadline)
    : proc_(std::move(proc)), table_(table), identifier_(identifier), totals_(totals), reader_(deadline) {}

void ProcessDetails::run(Pass& pass, Jobs others) {
  others_read_ = 0;
  others_denied_ = 0;
  identifier_.commands()->begin_tick();
  reader_.begin(pass.tick.begin.boot_ms * 1000);
  CostSpan span;
  // Identities first: what a process is can be had where its memory takes long to add up.
  Jobs jobs = std::move(others);
  cgroups_left_ = std::max(kCgroupsAtOnce, table_.entries().size() / kCgroupsPart);
  for (const auto& entry : table_.entries()) {
    begin(*entry, pass.tick.keyframe);
    ask_identity(*entry, jobs, pass);
  }
  span.add_to(pass.tick.cost, CostKind::identity);
  pass.tick.total.cpu_us += reader_.run(std::exchange(jobs, {}), pass.tick.cost);

  span = CostSpan();
  jobs.reserve(table_.entries().size());
  for (const auto& entry : table_.entries()) ask_rollup(*entry, jobs, pass);
  span.add_to(pass.tick.cost, CostKind::rollup);
  pass.tick.total.cpu_us += reader_.run(std::exchange(jobs, {}), pass.tick.cost);

  span = CostSpan();
  for (const auto& entry : table_.entries()) take_rollup(*entry, pass);
  table_.drop_lost(pass);
  span.add_to(pass.tick.cost, CostKind::rollup);

  identifier_.take_users();
  for (const auto& entry : table_.entries()) {
    find_exec(*entry);
    if (entry->execed && !full_identity_read(*entry)) ask_identity(*entry, jobs, pass);
  }
  span.add_to(pass.tick.cost, CostKind::identity);
  pass.tick.total.cpu_us += reader_.run(std::move(jobs), pass.tick.cost);

  span = CostSpan();
  for (const auto& entry : table_.entries()) take_identity(*entry, pass);
  span.add_to(pass.tick.cost, CostKind::identity);
}

void ProcessDetails::begin(ProcessEntry& entry, bool keyframe) {
  entry.execed = false;
  entry.blocked = false;
  entry.rollup_asked = false;
  if (entry.change.suspicious() || entry.change.uid || entry.exec_told) entry.identity_due = true;
  if (keyframe) entry.cgroup_due = true;
  if (entry.change.uid) entry.user_due = true;
  // A zombie has no arguments and no executable any more; what is known of it stays.
  if (entry.sample.state == 'Z' && !entry.fresh) entry.identity_due = false;
}

// Whether nothing of it is to be asked now.
bool ProcessDetails::left_out(ProcessEntry& entry, const BlockingJob* job, const Pass& pass) {
  const bool out = (job != nullptr && job->held()) || pass.tick.begin.boot_ms < entry.left_out_until_ms;
  entry.blocked |= out;
  return out;
}

// After a read that overstayed: it is likely to do so again.
void ProcessDetails::leave_out(ProcessEntry& entry, const Pass& pass) {
  entry.blocked = true;
  entry.leave_out_ms = std::clamp(2 * entry.leave_out_ms, kLeaveOutFirstMs, kLeaveOutMostMs);
  entry.left_out_until_ms = pass.tick.begin.boot_ms + entry.leave_out_ms;
}

void ProcessDetails::ask_rollup(ProcessEntry& entry, Jobs& jobs, Pass& pass) {
  if (entry.identity_held() && !entry.blocked) leave_out(entry, pass);
  // Without a size in status there is no memory: a zombie, or a process on its way there.
  if (!entry.sample.memory.has(F::vm_size)) return;
  const bool another = entry.change.suspicious() || entry.change.uid;
  if (!entry.rollup_due && !(entry.denied && another)) {
    if (entry.denied) count_denied(entry, pass);
    return;
  }
  if (entry.rollup == nullptr) entry.rollup = std::make_shared<RollupJob>(proc_, entry.pid, entry.start_ticks);
  if (left_out(entry, entry.rollup.get(), pass)) return;
  if (!entry.rollup_slot) entry.rollup_slot = table_.take_rollup_slot();
  entry.rollup->prepare(entry.rollup_slot, entry.change.suspicious());
  entry.rollup_asked = true;
  entry.rollup->set_owner(entry.uid);
  jobs.push_back(entry.rollup);
}

void ProcessDetails::ask_identity(ProcessEntry& entry, Jobs& jobs, const Pass& pass) {
  if (entry.user_due) {
    if (auto job = identifier_.ask_user(entry.uid)) jobs.push_back(std::move(job));
  }
  const bool cgroup = entry.cgroup_due && cgroups_left_ > 0;
  if (!entry.identity_due && !cgroup) return;
  if (left_out(entry, entry.identity.get(), pass)) return;
  entry.identity = std::make_shared<IdentityJob>(proc_, entry.pid, entry.start_ticks, entry.uid,
                                                 entry.identity_due ? identifier_.commands() : nullptr,
                                                 !entry.execed && identifier_.knows_command(entry));
  if (cgroup) --cgroups_left_;
  entry.cgroup_due = false;
  jobs.push_back(entry.identity);
}

void ProcessDetails::take_rollup(ProcessEntry& entry, Pass& pass) {
  if (!entry.rollup_asked) return;
  RollupJob& job = *entry.rollup;
  if (job.held()) return leave_out(entry, pass);
  entry.blocked = !job.done();
  if (entry.blocked) return;
  entry.leave_out_ms /= 2;
  if (entry.rollup_slot && !job.kept()) entry.close_rollup();
  entry.denied = false;
  if (!job.read()) {
    take_failure(entry, pass);
    return;
  }
  if (job.replaced()) {
    // Either this process runs another image, or another process has its pid: its own status knows. What was read of
    // the status before may be of the image before.
    const StatusChange before = entry.change;
    if (!table_.refresh(entry, pass)) {
      entry.lost = true;
      return;
    }
    // It became another since its status was read: so it may have since its identity was.
    if (entry.change.suspicious() && !entry.identity_held()) entry.identity.reset();
    entry.change.uid |= before.uid;
    entry.execed = !entry.fresh;
    if (entry.execed) entry.identity_due = true;
    if (entry.change.uid) entry.user_due = true;
  }
  take_exact(entry, pass);
  if (entry.uid != own_uid_) ++others_read_;
}

void ProcessDetails::take_exact(ProcessEntry& entry, Pass& pass) {
  ProcessSample& sample = entry.sample;
  const std::int64_t thought_kib = sample.memory.or_zero(F::pss);
  const bool estimated = std::exchange(sample.source, Source::exact) == Source::estimated;
  sample.memory.copy_part(*entry.rollup->take_memory(), F{}, kRollupFields);
  const std::int64_t read_kib = sample.memory.or_zero(F::pss);
  ExactReading now{sample.memory, pass.tick.begin.boot_ms, entry.rollup->used()};
  const bool another = entry.change.suspicious() || entry.exec_told;
  if (const auto& last = entry.exact; last && !another) {
    const std::int64_t touched = entry.touched_kib(now.at_ms);
    now.wrong_part = learn(last->wrong_part, touched, std::abs(thought_kib - read_kib));
  }
  if (estimated) pass.tick.reads.check(thought_kib, read_kib);
  entry.exact = now;
  entry.related = false;
  entry.kin_wrote_kib = 0;
  pass.tick.reads.take(entry.exact->cost);
}

void ProcessDetails::count_denied(const ProcessEntry& entry, Pass& pass) {
  ++pass.tick.counts.denied;
  if (entry.uid != own_uid_) ++others_denied_;
}

void ProcessDetails::take_failure(ProcessEntry& entry, Pass& pass) {
  const Error& error = entry.rollup->failure();
  entry.denied = error.kind == ErrorKind::denied;
  if (entry.denied) {
    entry.exact.reset();
    entry.stand_in();
    count_denied(entry, pass);
  } else if (error.kind == ErrorKind::malformed) {
    pass.note_malformed(entry.pid, error);
  }
}

// By the rules at the head of process_details.h; a rollup that fell silent has been seen already.
void ProcessDetails::find_exec(ProcessEntry& entry) const {
  if (entry.fresh || entry.execed || !(entry.exec_told || entry.change.suspicious())) return;
  entry.execed = entry.exec_told || entry.change.peak_fell || runs_another(entry);
  if (!entry.execed || (entry.rollup_asked && entry.rollup->done() && entry.rollup->read())) return;
  entry.exact.reset();
  entry.stand_in();
}

bool ProcessDetails::runs_another(const ProcessEntry& entry) const {
  if (!full_identity_read(entry)) return false;
  const ProcessInfo now = identifier_.describe(entry);
  const std::string_view exe = without_deleted(now.exe);
  return exe.empty() ? entry.change.comm && now.command != entry.info.command
                     : !entry.info.exe.empty() && exe != without_deleted(entry.info.exe);
}

void ProcessDetails::take_identity(ProcessEntry& entry, Pass& pass) {
  const IdentityJob* const job = entry.identity.get();
  const bool answered = job != nullptr && job->done();
  if (entry.blocked || (job != nullptr && !answered)) pass.note_blocked(entry.uid);
  const bool user_found = entry.user_due && identifier_.knows_user(entry.uid);
  if (answered && job->command()) entry.identity_due = false;
  if (user_found) entry.user_due = false;
  if (entry.fresh || entry.execed || answered || user_found || entry.changed) {
    tell(entry, identifier_.describe(entry), pass);
  }
  if (job != nullptr && !job->held()) entry.identity.reset();
}

// Puts the process into the tick's births where there is something to tell.
void ProcessDetails::tell(ProcessEntry& entry, ProcessInfo info, Pass& pass) {
  TickCounts& counts = pass.tick.counts;
  const bool fits = identifier_.fit(info, entry, pass.tick.begin.boot_ms);
  if (entry.fresh) {
    identifier_.begin(entry, pass.tick.begin, info);
    ++counts.born;
  } else if (entry.execed && !fits) {
    // Nor does it get a row of its own for each image that it runs.
    ++counts.execed;
  } else if (entry.execed) {
    pass.tick.exits.push_back({entry.info.key, ExitKind::execed});
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
  pass.tick.born.push_back(entry.info);
}

}  // namespace memoir
