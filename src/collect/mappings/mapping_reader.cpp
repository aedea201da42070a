#include "collect/mappings/mapping_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "collect/mappings/mapping_fold.h"
#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::size_t kMaxLateReads = 2;       // maximum number of late reads; each needs a thread
constexpr std::int64_t kMaxCpuUs = 5'000'000;  // maximum CPU time of one read
constexpr std::size_t kMaxShared = 256;        // maximum number of objects that a process maps shared
constexpr std::size_t kSweepAtOnce = 2;        // a sweep adds reads to a tick up to this total
constexpr std::int64_t kSweepCostUs = 2'000;   // approximate cost of one read

// Counters that change when the memory of a process changes.
constexpr std::array kCounters{F::rss_anon, F::rss_file, F::rss_shmem, F::vm_size, F::vm_swap, F::vm_pte};

std::size_t counters_of(const ProcessMemory& memory) {
  std::size_t hash = 1;
  for (const F field : kCounters) hash = hash * 1'000'003 + std::hash<std::int64_t>{}(memory.or_zero(field));
  return hash;
}

// Returns whether smaps of the process may be read now.
bool readable(const ProcessEntry& entry) {
  return !entry.blocked && entry.has_memory();
}

std::vector<MappingCandidate> candidates_of(const Entries& entries) {
  std::vector<MappingCandidate> candidates;
  candidates.reserve(entries.size());
  for (const auto& entry : entries) {
    const ProcessMemory& memory = entry->sample.memory;
    if (!readable(*entry)) continue;
    candidates.push_back({entry->sample.key, memory.or_zero(F::pss), counters_of(memory), entry->denied});
  }
  return candidates;
}

// Returns whether the process has swap in shared mappings, which Swap includes and SwapPss does not.
bool shares_swap(const ProcessMemory& memory) {
  return memory.has(F::swap_pss) && memory.or_zero(F::swap) > memory.or_zero(F::swap_pss);
}

bool shares_none(const ProcessMemory& memory) {
  return memory.has(F::swap) && memory.has(F::swap_pss) && !shares_swap(memory);
}

void add_state(const ProcessKey& key, MappingState state, CollectContext& context) {
  context.tick.summaries.push_back({.process = key, .state = state});
}

// Adds labels beyond the user's budget to the others of their kind.
void fit_labels(std::uint32_t uid, std::int64_t boot_ms, NameBudget& names, MappingSummary& summary) {
  const auto left_out = [&](const MappingRow& row) {
    if (row.name.label.empty() || names.fit(uid, row.name.label, boot_ms)) return false;
    summary.others[static_cast<std::size_t>(row.name.kind)].add(row.use);
    return true;
  };
  std::erase_if(summary.rows, left_out);
}

}  // namespace

// One read of smaps, for a summary, a sweep or both.
class MappingReader::Job final : public BlockingJob {
 public:
  enum class Use { summary, sweep, both };

  Job(std::shared_ptr<const ProcFs> proc, const ProcessEntry& entry, Mounts mounts, std::size_t labels, Use use)
      : BlockingJob(CostKind::rollup),
        proc_(std::move(proc)),
        key_(entry.sample.key),
        thread_(entry.thread),
        mounts_(std::move(mounts)),
        labels_(labels),
        use_(use) {
    set_owner(entry.uid);
  }

  void run(Buffer& buffer) override {
    CostSpan span;
    outcome_ = read(buffer);
    span.add_to(cost_);
  }

  const ProcessKey& key() const { return key_; }
  bool for_summary() const { return use_ != Use::sweep; }
  bool for_sweep() const { return use_ != Use::summary; }

  // Valid unless the job is stuck. Error kind `io` also means that it was not run, or was too expensive.
  const Status& outcome() const { return outcome_; }
  const Cost& cost() const { return cost_; }
  ProcessMappings take_summary(const Moment& now) {
    return {.process = key_,
            .summary = std::move(summary_),
            .read_ms = now.wall_ms - std::max<std::int64_t>(steady_us() - read_at_us_, 0) / 1000,
            .regions = regions_,
            .cpu_us = cost_.cpu_us,
            .wall_us = cost_.wall_us};
  }
  MappingSummary take_shared() { return std::move(shared_); }
  const OddLines& odd() const { return odd_; }

 private:
  Status read(Buffer& buffer);
  Mounts mounts(Buffer& buffer) const;
  std::optional<std::int64_t> object_kib(const SmapsRegion& region, MappingKind kind);
  Status read_regions(const Fd& fd, Buffer& buffer);
  Status check_same(const Fd& fd, Buffer& buffer) const;

  const std::shared_ptr<const ProcFs> proc_;
  const ProcessKey key_;
  const std::int32_t thread_;
  const Mounts mounts_;
  const std::size_t labels_;
  const Use use_;
  Status outcome_ = Error{ErrorKind::io, "smaps: not read"};
  Cost cost_;
  std::int64_t read_at_us_ = 0;
  std::int64_t regions_ = 0;
  MappingSummary summary_;
  MappingSummary shared_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> objects_;  // by device and inode: whether the size is known
  OddLines odd_;
};

Status MappingReader::Job::read(Buffer& buffer) {
  const Fd fd = TRY(proc_->open(key_.pid, PidFile::smaps, thread_));
  TRY(read_regions(fd, buffer));
  read_at_us_ = steady_us();
  return check_same(fd, buffer);
}

// Returns the tmpfs mounts of the process, which has its own if its mount namespace is not the recorder's.
MappingReader::Mounts MappingReader::Job::mounts(Buffer& buffer) const {
  const auto own = read_link(proc_->path(SystemFile::mount_namespace));
  const auto other = read_link(proc_->path(key_.pid, PidFile::mount_namespace, thread_));
  if (!own || !other || *own == *other) return mounts_;
  const auto text = read_file(proc_->path(key_.pid, PidFile::mountinfo, thread_), buffer);
  auto mounts = text ? parse_tmpfs_mounts(*text) : Result<std::vector<TmpfsMount>>(text.error());
  return mounts ? std::make_shared<const std::vector<TmpfsMount>>(*std::move(mounts)) : mounts_;
}

Status MappingReader::Job::read_regions(const Fd& fd, Buffer& buffer) {
  static const std::vector<TmpfsMount> none;
  const Mounts known = mounts(buffer);
  const std::vector<TmpfsMount>& tmpfs = known != nullptr ? *known : none;
  MappingFold all(tmpfs, labels_);
  MappingFold shared(tmpfs, kMaxShared);
  SmapsParser parser(
      [&](const SmapsRegion& region) {
        ++regions_;
        all.add(region, object_kib(region, mapping_name(region, tmpfs).kind));
        if (for_sweep() && region.shared()) shared.add(region);
      },
      &odd_);
  const std::int64_t until_us = thread_cpu_us() + kMaxCpuUs;
  TRY(read_pieces(fd, buffer, "smaps", [&](std::string_view piece) -> Status {
    if (thread_cpu_us() > until_us) return Error{ErrorKind::io, "smaps: takes too long"};
    return parser.add(piece);
  }));
  TRY(parser.finish());
  summary_ = all.take();
  fold_small(summary_);
  shared_ = shared.take();
  return Done{};
}

// Returns the size of the region's object. nullopt if it is unknown: links in map_files need CAP_CHECKPOINT_RESTORE, or
// CAP_SYS_ADMIN before Linux 5.9 (proc(5)).
std::optional<std::int64_t> MappingReader::Job::object_kib(const SmapsRegion& region, MappingKind kind) {
  const bool shared_memory = kind == MappingKind::memfd || kind == MappingKind::shared_anonymous ||
                             kind == MappingKind::sysv || kind == MappingKind::tmpfs;
  if (!shared_memory || objects_.size() >= kMaxShared) return std::nullopt;
  const std::uint64_t device = std::uint64_t{region.major} << 32U | region.minor;
  const auto [object, is_new] = objects_.try_emplace({device, region.inode}, false);
  if (!is_new) return object->second ? std::optional<std::int64_t>(0) : std::nullopt;
  const std::string path =
      fmt::format("{}/{:x}-{:x}", proc_->path(key_.pid, PidFile::map_files), region.start, region.end);
  struct stat status {};
  object->second = ::stat(path.c_str(), &status) == 0;
  return object->second ? std::optional<std::int64_t>(status.st_blocks / 2) : std::nullopt;
}

// Checks that the text is complete and belongs to the process. If the process exits or execs, the text ends early and
// looks complete, but then the file cannot be read again. The path may also have opened another process that reused the
// pid.
Status MappingReader::Job::check_same(const Fd& fd, Buffer& buffer) const {
  const Error gone{ErrorKind::not_found, "the process has exited"};
  if (::pread(fd.get(), buffer.data(), 1, 0) != 1) return gone;
  const auto start_ticks = read_start_ticks(*proc_, key_.pid, buffer);
  return start_ticks && *start_ticks == key_.start_ticks ? Status(Done{}) : Status(gone);
}

void MappingReader::claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const {
  const std::int64_t pace_ms = plan_.limits().interval_ms;
  const std::size_t before = claims.size();
  for (const MappingPlan::Turn& turn : plan_.coming(boot_ms))
    claims.push_back({RequestKind::summary, turn.cost_us, turn_urgency(turn.overdue_ms, pace_ms)});
  if (!plan_.affords_any() || pace_ms == 0) return;
  for (std::size_t i = claims.size() - before; i < std::min(kSweepAtOnce, sweep_.left().size()); ++i)
    claims.push_back({RequestKind::summary, kSweepCostUs, turn_urgency(boot_ms - sweep_.began_ms(), pace_ms)});
}

void MappingReader::read(const Entries& entries, MappingRequest ask, const Mounts& mounts, NameBudget& names,
                         CollectContext& context, std::size_t granted) {
  CostSpan span;
  std::vector<ProcessKey> alive;
  alive.reserve(entries.size());
  for (const auto& entry : entries) alive.push_back(entry->sample.key);
  changed_ = co_mappers_.remove_exited(alive);
  take_back(names, context);
  const Jobs jobs = plan(entries, ask, mounts, granted, context);
  span.add_to(context.tick.cost, CostKind::rollup);
  reader_.begin(context.tick.begin.boot_ms * 1000);
  context.tick.total.cpu_us += reader_.run({jobs.begin(), jobs.end()}, context.tick.cost);
  span = CostSpan();
  for (const auto& job : jobs) {
    if (job->is_stuck()) {
      late_.push_back(job);
      if (job->for_summary() && plan_.defer(job->key(), 0)) add_state(job->key(), MappingState::deferred, context);
    } else {
      take(job, names, context);
    }
  }
  for (const ProcessKey& key : changed_) {
    ProcessEntry* const entry = find_entry(entries, key.pid);
    if (entry != nullptr && entry->sample.key == key && entry->sample.source != Source::exact) entry->doubt();
  }
  share_swap(entries, context.tick.machine.memory);
  std::ranges::sort(context.tick.summaries, {}, &ProcessMappings::process);
  span.add_to(context.tick.cost, CostKind::rollup);
}

MappingReader::Jobs MappingReader::plan(const Entries& entries, MappingRequest ask, const Mounts& mounts,
                                        std::size_t granted, CollectContext& context) {
  meet_sharers(entries, ask == MappingRequest::planned, context);
  const DueReads turns = plan_.next(candidates_of(entries), context.tick.begin.boot_ms, ask, granted);
  for (const ProcessKey& key : turns.deferred) add_state(key, MappingState::deferred, context);
  for (const ProcessKey& key : turns.dropped) add_state(key, MappingState::dropped, context);
  Jobs jobs;
  jobs.reserve(turns.read.size());
  for (const ProcessKey& key : turns.read) {
    const bool late = std::ranges::any_of(late_, [&](const auto& job) { return job->key() == key; });
    const bool back =
        std::ranges::find(context.tick.summaries, key, &ProcessMappings::process) != context.tick.summaries.end();
    if (late || back || late_.size() >= kMaxLateReads) continue;
    const auto use = sweep_.left().contains(key) ? Job::Use::both : Job::Use::summary;
    jobs.push_back(std::make_shared<Job>(proc_, *find_entry(entries, key.pid), mounts, plan_.limits().labels, use));
  }
  plan_sweep(entries, ask == MappingRequest::planned, std::min(kSweepAtOnce, granted), jobs, mounts);
  return jobs;
}

void MappingReader::meet_sharers(const Entries& entries, bool all, const CollectContext& context) {
  std::vector<ProcessKey> sharers;
  if (swap_used_kib(context.tick.machine.memory) > 0 && plan_.limits().interval_ms > 0) {
    for (const auto& entry : entries) {
      if (readable(*entry) && shares_swap(entry->sample.memory)) sharers.push_back(entry->sample.key);
    }
  }
  sweep_.meet(sharers, context.tick.begin.boot_ms, all ? 0 : plan_.limits().interval_ms);
}

// Adds reads for shares of swap, if summaries leave some of the budget.
void MappingReader::plan_sweep(const Entries& entries, bool all, std::size_t most, Jobs& jobs, const Mounts& mounts) {
  if (late_.size() >= kMaxLateReads || (!all && !plan_.affords_any())) return;
  const std::size_t max_jobs = all ? MappingPlan::kMaxAtOnce : most;
  for (const ProcessKey& key : sweep_.left()) {
    if (jobs.size() >= max_jobs) return;
    if (std::ranges::any_of(jobs, [&](const auto& job) { return job->key() == key; })) continue;
    jobs.push_back(std::make_shared<Job>(proc_, *find_entry(entries, key.pid), mounts, 0, Job::Use::sweep));
  }
}

void MappingReader::take(const std::shared_ptr<Job>& job, NameBudget& names, CollectContext& context) {
  const std::int64_t cpu_us = job->cost().cpu_us;
  const Status& outcome = job->outcome();
  context.tick.odd_lines.add(job->odd());
  if (job->for_sweep()) sweep_.take(job->key(), outcome ? std::optional(job->take_shared()) : std::nullopt);
  if (!job->for_summary()) return plan_.charge(cpu_us);
  if (outcome) {
    plan_.read(job->key(), cpu_us);
    const ProcessMappings& read = context.tick.summaries.emplace_back(job->take_summary(context.tick.begin));
    const std::vector<ProcessKey> others = co_mappers_.add(job->key(), read.summary);
    changed_.insert(changed_.end(), others.begin(), others.end());
    fit_labels(job->owner(), context.tick.begin.boot_ms, names, context.tick.summaries.back().summary);
  } else if (outcome.error().kind == ErrorKind::denied) {
    plan_.read(job->key(), cpu_us);
    add_state(job->key(), MappingState::inaccessible, context);
  } else if (outcome.error().kind == ErrorKind::io) {
    if (plan_.defer(job->key(), cpu_us)) add_state(job->key(), MappingState::deferred, context);
  } else {
    plan_.failed(job->key(), cpu_us);
    context.note_malformed(outcome.error());
  }
}

// Takes the results of late reads that have finished. A process that has exited since then gets no summary.
void MappingReader::take_back(NameBudget& names, CollectContext& context) {
  const auto back = std::partition(late_.begin(), late_.end(), [](const auto& job) { return job->is_stuck(); });
  std::for_each(back, late_.end(), [&](const auto& job) { take(job, names, context); });
  late_.erase(back, late_.end());
}

void MappingReader::share_swap(const Entries& entries, const MachineMemory& machine) const {
  for (const auto& entry : entries) {
    ProcessMemory& memory = entry->sample.memory;
    const bool was_read = memory.has(F::vm_size) || memory.has(F::vm_rss);
    const bool has_none = was_read && (swap_used_kib(machine) == 0 || shares_none(memory));
    memory.set(F::shared_swap, has_none ? 0 : sweep_.share_of(entry->sample.key));
  }
}

}  // namespace memoir
