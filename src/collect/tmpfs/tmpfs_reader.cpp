#include "collect/tmpfs/tmpfs_reader.h"

#include <poll.h>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/transformed.h"

namespace memoir {
namespace {

// Maximum number of stuck jobs of each kind. Each needs a thread.
constexpr std::size_t kMaxStuck = 2;

bool same_device(const TmpfsMount& a, const TmpfsMount& b) {
  return a.major == b.major && a.minor == b.minor;
}

// Adds the job to `stuck` if it is stuck. Returns whether it is; otherwise the job has an outcome.
template <typename Job>
bool keep_stuck(const std::shared_ptr<Job>& job, std::vector<std::shared_ptr<Job>>& stuck) {
  if (job->is_stuck()) stuck.push_back(job);
  return job->is_stuck();
}

}  // namespace

class TmpfsReader::MountsJob final : public BlockingJob {
 public:
  using Readings = std::vector<TmpfsPlan::Reading>;

  MountsJob(std::shared_ptr<const ProcFs> proc, Probe probe, Mounts mounts, std::vector<TmpfsMount> avoid)
      : BlockingJob(CostKind::machine),
        proc_(std::move(proc)),
        probe_(std::move(probe)),
        mounts_(std::move(mounts)),
        avoid_(std::move(avoid)) {}

  void run(Buffer& buffer) override {
    if (mounts_ == nullptr) read_mounts(buffer);
    if (mounts_ != nullptr) readings_ = read_mounts();
  }

  // Returns the mount that a stuck job waits for; nullopt if it waits for the mount table.
  std::optional<TmpfsMount> waits_for() const {
    const std::size_t at = at_.load(std::memory_order_acquire);
    return at == 0 ? std::nullopt : std::optional((*mounts_)[at - 1]);
  }

  // The following results are valid if the job is done.
  const Mounts& mounts() const { return mounts_; }
  const Result<Readings>& readings() const { return readings_; }
  const OddLines& odd() const { return odd_; }

 private:
  void read_mounts(Buffer& buffer) {
    const auto text = read_file(proc_->path(SystemFile::mountinfo), buffer);
    auto mounts = text ? parse_tmpfs_mounts(*text, &odd_) : Result<std::vector<TmpfsMount>>(text.error());
    if (!mounts) {
      readings_ = mounts.error();
      return;
    }
    mounts_ = std::make_shared<const std::vector<TmpfsMount>>(*std::move(mounts));
  }

  // Reads each file system once, through the first of its mounts that responds. If none does, keeps its first mount.
  Readings read_mounts() {
    Readings readings;
    readings.reserve(mounts_->size());
    for (std::size_t i = 0; i < mounts_->size(); ++i) {
      const TmpfsMount& mount = (*mounts_)[i];
      const bool known = !readings.empty() && same_device(readings.back().mount, mount);
      if (known && readings.back().room) continue;
      at_.store(i + 1, std::memory_order_release);
      const bool avoided = std::ranges::find(avoid_, mount) != avoid_.end();
      TmpfsPlan::Reading reading{mount, avoided ? std::nullopt : probe_(mount)};
      if (!known)
        readings.push_back(std::move(reading));
      else if (reading.room)
        readings.back() = std::move(reading);
    }
    leave_out_hidden(readings);
    return readings;
  }

  // Removes hidden mounts: only the last of several mounts at one place is visible.
  static void leave_out_hidden(Readings& readings) {
    std::ranges::stable_sort(readings, {}, [](const TmpfsPlan::Reading& reading) {
      return std::tuple(std::string_view(reading.mount.mount_point), !reading.room);
    });
    const auto hidden =
        std::unique(readings.begin(), readings.end(), [](const TmpfsPlan::Reading& a, const TmpfsPlan::Reading& b) {
          return a.mount.mount_point == b.mount.mount_point;
        });
    readings.erase(hidden, readings.end());
  }

  const std::shared_ptr<const ProcFs> proc_;
  const Probe probe_;
  Mounts mounts_;
  const std::vector<TmpfsMount> avoid_;
  OddLines odd_;
  std::atomic<std::size_t> at_{0};  // index of the current mount, from 1; reading it also makes earlier stores visible
  Result<Readings> readings_ = Error{ErrorKind::io, "mountinfo: not read"};
};

class TmpfsReader::WalkJob final : public BlockingJob {
 public:
  WalkJob(Walk walk, TmpfsMount mount, const WalkLimits& limits)
      : BlockingJob(CostKind::machine), walk_(std::move(walk)), mount_(std::move(mount)), limits_(limits) {}

  void run(Buffer& /*buffer*/) override { tree_ = walk_(mount_, limits_); }

  const TmpfsMount& mount() const { return mount_; }
  TmpfsTree& tree() { return tree_; }

 private:
  const Walk walk_;
  const TmpfsMount mount_;
  const WalkLimits limits_;
  TmpfsTree tree_{.problem = "it did not finish"};
};

TmpfsReader::TmpfsReader(std::shared_ptr<const ProcFs> proc, const TmpfsOptions& options, Probe probe, Walk walk)
    : proc_(std::move(proc)),
      limits_(options.limits),
      probe_(std::move(probe)),
      walk_(std::move(walk)),
      plan_(options.interval.count()) {}

// Returns whether the mounts have changed, which the kernel signals by an exceptional condition of the open file
// (proc(5)).
bool TmpfsReader::mounts_changed() {
  if (!mountinfo_) {
    Result<Fd> opened = proc_->open(SystemFile::mountinfo);
    if (opened) mountinfo_ = *std::move(opened);
    return true;
  }
  pollfd asked{.fd = mountinfo_.get(), .events = POLLPRI, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

void TmpfsReader::claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const {
  const auto turn = plan_.coming(transformed(stuck_walks_, &WalkJob::mount), boot_ms);
  if (turn) claims.push_back({RequestKind::walk, turn->cost_us, turn_urgency(turn->overdue_ms, plan_.interval_ms())});
}

std::vector<std::shared_ptr<BlockingJob>> TmpfsReader::ask(bool again, std::int64_t boot_ms, bool walk) {
  forget_returned(stuck_scans_);
  forget_returned(stuck_walks_);
  mounts_job_ = nullptr;
  walk_job_ = nullptr;
  if (mounts_changed() || again) mounts_ = nullptr;
  if (stuck_scans_.size() + stuck_walks_.size() >= kMaxStuck) return {};
  std::vector<TmpfsMount> avoid = transformed(stuck_walks_, &WalkJob::mount);
  for (const auto& job : stuck_scans_) {
    const auto mount = job->waits_for();
    if (!mount) return {};
    avoid.push_back(*mount);
  }
  std::vector<std::shared_ptr<BlockingJob>> jobs;
  const auto turn = plan_.coming(avoid, boot_ms);
  if (const auto next = walk || (turn && turn->urgent) ? plan_.next_walk(avoid, boot_ms) : std::nullopt) {
    walk_job_ = std::make_shared<WalkJob>(walk_, *next, limits_);
    jobs.push_back(walk_job_);
  }
  mounts_job_ = std::make_shared<MountsJob>(proc_, probe_, mounts_, std::move(avoid));
  jobs.insert(jobs.begin(), mounts_job_);
  return jobs;
}

void TmpfsReader::take(NameBudget& names, CollectContext& context) {
  if (mounts_job_ != nullptr) take_scan(context);
  if (walk_job_ != nullptr) take_walk(names, context);
  context.tick.tmpfs = plan_.report(context.tick.keyframe);
}

void TmpfsReader::take_scan(CollectContext& context) {
  if (keep_stuck(mounts_job_, stuck_scans_)) {
    const auto mount = mounts_job_->waits_for();
    context.note_blocked(mount ? "the tmpfs at " + mount->mount_point : "mountinfo");
    return;
  }
  if (!mounts_job_->done()) return;
  mounts_ = mounts_job_->mounts();
  context.tick.odd_lines.add(mounts_job_->odd());
  const auto& readings = mounts_job_->readings();
  if (!readings) {
    return context.note_malformed(readings.error());
  }
  std::int64_t used_kib = 0;
  for (const TmpfsPlan::Reading& reading : *readings) used_kib += reading.room ? reading.room->used_kib.value_or(0) : 0;
  context.tick.machine.memory.set(MachineField::tmpfs, used_kib);
  plan_.see(*readings, context.tick.begin.boot_ms);
}

void TmpfsReader::take_walk(NameBudget& names, CollectContext& context) {
  if (keep_stuck(walk_job_, stuck_walks_)) {
    context.note_blocked("the tmpfs at " + walk_job_->mount().mount_point);
    return;
  }
  if (!walk_job_->done()) return;
  TmpfsTree tree = std::move(walk_job_->tree());
  context.in_turn_us += tree.cpu_us;
  std::erase_if(tree.largest,
                [&](const TmpfsEntry& entry) { return !names.fit(entry.uid, entry.path, context.tick.begin.boot_ms); });
  plan_.take(walk_job_->mount(), std::move(tree), context.tick.begin.wall_ms);
}

}  // namespace memoir
