#include "collect/mappings/ledger_reader.h"

#include <algorithm>
#include <functional>
#include <unistd.h>
#include <utility>

#include "collect/mappings/ledger.h"
#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::size_t kMostLate = 2;            // each has a thread
constexpr std::int64_t kMostCpuUs = 5'000'000;  // of one reading
constexpr std::size_t kMostShared = 256;        // objects that a process maps shared
constexpr std::size_t kSweepAtOnce = 2;         // readings at a tick, with those of ledgers
constexpr std::int64_t kSweepCostUs = 2'000;    // of one, about

// What moves when the memory of a process does.
constexpr std::array kCounters{F::rss_anon, F::rss_file, F::rss_shmem, F::vm_size, F::vm_swap, F::vm_pte};

std::size_t counters_of(const ProcessMemory& memory) {
  std::size_t hash = 1;
  for (const F field : kCounters) hash = hash * 1'000'003 + std::hash<std::int64_t>{}(memory.or_zero(field));
  return hash;
}

// Whose memory may be asked for now.
bool readable(const ProcessEntry& entry) {
  return !entry.blocked && entry.sample.memory.has(F::vm_size);
}

std::vector<LedgerCandidate> candidates_of(const Entries& entries) {
  std::vector<LedgerCandidate> candidates;
  candidates.reserve(entries.size());
  for (const auto& entry : entries) {
    const ProcessMemory& memory = entry->sample.memory;
    if (!readable(*entry)) continue;
    candidates.push_back({entry->sample.key, memory.or_zero(F::pss), counters_of(memory), entry->denied});
  }
  return candidates;
}

bool swaps(const MachineMemory& machine) {
  return machine.or_zero(MachineField::swap_total) > machine.or_zero(MachineField::swap_free);
}

// SwapPss leaves out the swap of shared mappings, Swap does not: only such a process has any.
bool shares_swap(const ProcessMemory& memory) {
  return memory.has(F::swap_pss) && memory.or_zero(F::swap) > memory.or_zero(F::swap_pss);
}

void tell(const ProcessKey& key, LedgerState state, Pass& pass) {
  pass.tick.ledgers.push_back({.process = key, .state = state});
}

// Labels that the user may not tell any more go to the others of their kind.
void fit_labels(std::uint32_t uid, std::int64_t boot_ms, NameBudget& names, MappingLedger& ledger) {
  const auto left_out = [&](const MappingRow& row) {
    if (row.name.label.empty() || names.fit(uid, row.name.label, boot_ms)) return false;
    ledger.others[static_cast<std::size_t>(row.name.kind)].add(row.use);
    return true;
  };
  std::erase_if(ledger.rows, left_out);
}

}  // namespace

// One reading.
class LedgerReader::Job final : public BlockingJob {
 public:
  enum class Use { ledger, sweep, both };

  Job(std::shared_ptr<const ProcFs> proc, const ProcessEntry& entry, Mounts mounts, std::size_t labels, Use use)
      : BlockingJob(CostKind::rollup),
        proc_(std::move(proc)),
        key_(entry.sample.key),
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
  bool for_ledger() const { return use_ != Use::sweep; }
  bool for_sweep() const { return use_ != Use::ledger; }

  // Of one that is not held; `io` also where it was not run, or too dear.
  const Status& outcome() const { return outcome_; }
  const Cost& cost() const { return cost_; }
  ProcessLedger take_ledger(const Moment& now) {
    return {.process = key_,
            .ledger = std::move(ledger_),
            .read_ms = now.wall_ms - std::max<std::int64_t>(steady_us() - read_at_us_, 0) / 1000,
            .regions = regions_,
            .cpu_us = cost_.cpu_us,
            .wall_us = cost_.wall_us};
  }
  MappingLedger take_shared() { return std::move(shared_); }

 private:
  Status read(Buffer& buffer);
  Status read_regions(const Fd& fd, Buffer& buffer);
  Status check_same(const Fd& fd, Buffer& buffer) const;

  const std::shared_ptr<const ProcFs> proc_;
  const ProcessKey key_;
  const Mounts mounts_;
  const std::size_t labels_;
  const Use use_;
  Status outcome_ = Error{ErrorKind::io, "smaps: not read"};
  Cost cost_;
  std::int64_t read_at_us_ = 0;
  std::int64_t regions_ = 0;
  MappingLedger ledger_;
  MappingLedger shared_;
};

Status LedgerReader::Job::read(Buffer& buffer) {
  const Fd fd = TRY(proc_->open(key_.pid, PidFile::smaps));
  TRY(read_regions(fd, buffer));
  read_at_us_ = steady_us();
  return check_same(fd, buffer);
}

Status LedgerReader::Job::read_regions(const Fd& fd, Buffer& buffer) {
  static const std::vector<TmpfsMount> none;
  const std::vector<TmpfsMount>& mounts = mounts_ != nullptr ? *mounts_ : none;
  MappingFold all(mounts, labels_);
  MappingFold shared(mounts, kMostShared);
  SmapsParser parser([&](const SmapsRegion& region) {
    ++regions_;
    all.add(region);
    if (for_sweep() && region.shared()) shared.add(region);
  });
  const std::int64_t until_us = thread_cpu_us() + kMostCpuUs;
  TRY(read_pieces(fd, buffer, "smaps", [&](std::string_view piece) -> Status {
    if (thread_cpu_us() > until_us) return Error{ErrorKind::io, "smaps: takes too long"};
    return parser.add(piece);
  }));
  TRY(parser.finish());
  ledger_ = all.take();
  fold_small(ledger_);
  shared_ = shared.take();
  return Done{};
}

// The text of a memory that goes away, by an exit or an exec, ends early, with nothing to tell it from a whole one; but
// it cannot be begun again. And what was opened by its path may be another process's that has the pid now.
Status LedgerReader::Job::check_same(const Fd& fd, Buffer& buffer) const {
  const Error gone{ErrorKind::gone, "the process is gone"};
  if (::pread(fd.get(), buffer.data(), 1, 0) != 1) return gone;
  const auto start_ticks = read_start_ticks(*proc_, key_.pid, buffer);
  return start_ticks && *start_ticks == key_.start_ticks ? Status(Done{}) : Status(gone);
}

void LedgerReader::claim(std::int64_t boot_ms, std::vector<Claim>& claims) const {
  const std::int64_t pace_ms = plan_.limits().interval_ms;
  const std::size_t before = claims.size();
  for (const LedgerPlan::Turn& turn : plan_.coming(boot_ms))
    claims.push_back({ClaimKind::ledger, turn.cost_us, turn_urgency(turn.overdue_ms, pace_ms)});
  if (!plan_.affords_any() || pace_ms == 0) return;
  for (std::size_t i = claims.size() - before; i < std::min(kSweepAtOnce, sweep_.left().size()); ++i)
    claims.push_back({ClaimKind::ledger, kSweepCostUs, turn_urgency(boot_ms - sweep_.began_ms(), pace_ms)});
}

void LedgerReader::read(const Entries& entries, LedgerAsk ask, const Mounts& mounts, NameBudget& names, Pass& pass,
                        std::size_t granted) {
  CostSpan span;
  take_back(names, pass);
  const Jobs jobs = plan(entries, ask, mounts, granted, pass);
  span.add_to(pass.tick.cost, CostKind::rollup);
  reader_.begin(pass.tick.begin.boot_ms * 1000);
  pass.tick.total.cpu_us += reader_.run({jobs.begin(), jobs.end()}, pass.tick.cost);
  span = CostSpan();
  for (const auto& job : jobs) {
    if (job->held()) {
      late_.push_back(job);
      if (job->for_ledger() && plan_.put_off(job->key(), 0)) tell(job->key(), LedgerState::deferred, pass);
    } else {
      take(job, names, pass);
    }
  }
  share_swap(entries);
  std::ranges::sort(pass.tick.ledgers, {}, &ProcessLedger::process);
  span.add_to(pass.tick.cost, CostKind::rollup);
}

LedgerReader::Jobs LedgerReader::plan(const Entries& entries, LedgerAsk ask, const Mounts& mounts, std::size_t granted,
                                      Pass& pass) {
  const LedgerTurns turns = plan_.next(candidates_of(entries), pass.tick.begin.boot_ms, ask, granted);
  for (const ProcessKey& key : turns.deferred) tell(key, LedgerState::deferred, pass);
  for (const ProcessKey& key : turns.dropped) tell(key, LedgerState::dropped, pass);
  Jobs jobs;
  jobs.reserve(turns.read.size());
  for (const ProcessKey& key : turns.read) {
    const bool late = std::ranges::any_of(late_, [&](const auto& job) { return job->key() == key; });
    const bool back = std::ranges::find(pass.tick.ledgers, key, &ProcessLedger::process) != pass.tick.ledgers.end();
    if (late || back || late_.size() >= kMostLate) continue;
    const auto use = sweep_.left().contains(key) ? Job::Use::both : Job::Use::ledger;
    jobs.push_back(std::make_shared<Job>(proc_, *find_entry(entries, key.pid), mounts, plan_.limits().labels, use));
  }
  plan_sweep(entries, std::min(kSweepAtOnce, granted), jobs, mounts, pass);
  return jobs;
}

// Readings for shares of swap, where ledgers leave room for any.
void LedgerReader::plan_sweep(const Entries& entries, std::size_t most, Jobs& jobs, const Mounts& mounts,
                              const Pass& pass) {
  std::vector<ProcessKey> sharers;
  if (swaps(pass.tick.machine.memory) && plan_.limits().interval_ms > 0) {
    for (const auto& entry : entries) {
      if (readable(*entry) && shares_swap(entry->sample.memory)) sharers.push_back(entry->sample.key);
    }
  }
  sweep_.meet(sharers, pass.tick.begin.boot_ms, plan_.limits().interval_ms);
  if (late_.size() >= kMostLate || !plan_.affords_any()) return;
  for (const ProcessKey& key : sweep_.left()) {
    if (jobs.size() >= most) return;
    if (std::ranges::any_of(jobs, [&](const auto& job) { return job->key() == key; })) continue;
    jobs.push_back(std::make_shared<Job>(proc_, *find_entry(entries, key.pid), mounts, 0, Job::Use::sweep));
  }
}

void LedgerReader::take(const std::shared_ptr<Job>& job, NameBudget& names, Pass& pass) {
  const std::int64_t cpu_us = job->cost().cpu_us;
  const Status& outcome = job->outcome();
  if (job->for_sweep()) sweep_.take(job->key(), outcome ? std::optional(job->take_shared()) : std::nullopt);
  if (!job->for_ledger()) return plan_.charge(cpu_us);
  if (outcome) {
    plan_.read(job->key(), cpu_us);
    pass.tick.ledgers.push_back(job->take_ledger(pass.tick.begin));
    fit_labels(job->owner(), pass.tick.begin.boot_ms, names, pass.tick.ledgers.back().ledger);
  } else if (outcome.error().kind == ErrorKind::denied) {
    plan_.read(job->key(), cpu_us);
    tell(job->key(), LedgerState::inaccessible, pass);
  } else if (outcome.error().kind == ErrorKind::io) {
    if (plan_.put_off(job->key(), cpu_us)) tell(job->key(), LedgerState::deferred, pass);
  } else {
    plan_.failed(job->key(), cpu_us);
    if (outcome.error().kind == ErrorKind::malformed) pass.note_malformed(job->key().pid, outcome.error());
  }
}

// A process that ended meanwhile has no ledger any more.
void LedgerReader::take_back(NameBudget& names, Pass& pass) {
  const auto back = std::partition(late_.begin(), late_.end(), [](const auto& job) { return job->held(); });
  std::for_each(back, late_.end(), [&](const auto& job) { take(job, names, pass); });
  late_.erase(back, late_.end());
}

void LedgerReader::share_swap(const Entries& entries) const {
  for (const auto& entry : entries) {
    const auto share = sweep_.share_of(entry->sample.key);
    entry->sample.memory.set(F::shared_swap, share);
  }
}

}  // namespace memoir
