#include "collect/tmpfs/tmpfs_reader.h"

#include <poll.h>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/each_of.h"

namespace memoir {
namespace {

// Each has a thread.
constexpr std::size_t kMostStuck = 2;

bool same_device(const TmpfsMount& a, const TmpfsMount& b) {
  return a.major == b.major && a.minor == b.minor;
}

// Of a job that has an outcome only where it was run: whether it did not come back.
template <typename Job>
bool keep_stuck(const std::shared_ptr<Job>& job, std::vector<std::shared_ptr<Job>>& stuck) {
  if (job->held()) stuck.push_back(job);
  return job->held();
}

template <typename Job>
void forget_returned(std::vector<std::shared_ptr<Job>>& stuck) {
  std::erase_if(stuck, [](const std::shared_ptr<Job>& job) { return !job->held(); });
}

}  // namespace

class TmpfsReader::LookJob final : public BlockingJob {
 public:
  using Readings = std::vector<TmpfsPlan::Reading>;

  LookJob(std::shared_ptr<const ProcFs> proc, Look look, Mounts mounts, std::vector<TmpfsMount> avoid)
      : BlockingJob(CostKind::machine),
        proc_(std::move(proc)),
        look_(std::move(look)),
        mounts_(std::move(mounts)),
        avoid_(std::move(avoid)) {}

  void run(Buffer& buffer) override {
    if (mounts_ == nullptr) read_mounts(buffer);
    if (mounts_ != nullptr) readings_ = look_at_mounts();
  }

  // Of one that is held: what it waits for. Absent: the table itself.
  std::optional<TmpfsMount> waits_for() const {
    const std::size_t at = at_.load(std::memory_order_acquire);
    return at == 0 ? std::nullopt : std::optional((*mounts_)[at - 1]);
  }

  // Of one that is done.
  const Mounts& mounts() const { return mounts_; }
  const Result<Readings>& readings() const { return readings_; }

 private:
  void read_mounts(Buffer& buffer) {
    const auto text = read_file(proc_->path(SystemFile::mountinfo), buffer);
    auto mounts = text ? parse_tmpfs_mounts(*text) : Result<std::vector<TmpfsMount>>(text.error());
    if (!mounts) {
      readings_ = mounts.error();
      return;
    }
    mounts_ = std::make_shared<const std::vector<TmpfsMount>>(*std::move(mounts));
  }

  // Each file system once, by the first of its mounts that answers, else by its first.
  Readings look_at_mounts() {
    Readings readings;
    readings.reserve(mounts_->size());
    for (std::size_t i = 0; i < mounts_->size(); ++i) {
      const TmpfsMount& mount = (*mounts_)[i];
      const bool known = !readings.empty() && same_device(readings.back().mount, mount);
      if (known && readings.back().room) continue;
      at_.store(i + 1, std::memory_order_release);
      const bool avoided = std::ranges::find(avoid_, mount) != avoid_.end();
      TmpfsPlan::Reading reading{mount, avoided ? std::nullopt : look_(mount)};
      if (!known)
        readings.push_back(std::move(reading));
      else if (reading.room)
        readings.back() = std::move(reading);
    }
    leave_out_hidden(readings);
    return readings;
  }

  // Of those mounted in one place only the last is seen.
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
  const Look look_;
  Mounts mounts_;
  const std::vector<TmpfsMount> avoid_;
  std::atomic<std::size_t> at_{0};  // in the mounts, from 1; what was stored before can be read by who sees it
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
  TmpfsTree tree_{.problem = "it was not run to its end"};
};

TmpfsReader::TmpfsReader(std::shared_ptr<const ProcFs> proc, const TmpfsOptions& options, Look look, Walk walk)
    : proc_(std::move(proc)),
      limits_(options.limits),
      look_(std::move(look)),
      walk_(std::move(walk)),
      plan_(options.interval.count()) {}

// The kernel says so by an exceptional condition of the open file (proc(5)).
bool TmpfsReader::mounts_changed() {
  if (!mountinfo_) {
    Result<Fd> opened = proc_->open(SystemFile::mountinfo);
    if (opened) mountinfo_ = *std::move(opened);
    return true;
  }
  pollfd asked{.fd = mountinfo_.get(), .events = POLLPRI, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

void TmpfsReader::claim(std::int64_t boot_ms, std::vector<Claim>& claims) const {
  const auto turn = plan_.coming(each_of(stuck_walks_, &WalkJob::mount), boot_ms);
  if (turn) claims.push_back({ClaimKind::walk, turn->cost_us, turn_urgency(turn->overdue_ms, plan_.interval_ms())});
}

std::vector<std::shared_ptr<BlockingJob>> TmpfsReader::ask(bool again, std::int64_t boot_ms, bool walk) {
  forget_returned(stuck_looks_);
  forget_returned(stuck_walks_);
  look_job_ = nullptr;
  walk_job_ = nullptr;
  if (mounts_changed() || again) mounts_ = nullptr;
  if (stuck_looks_.size() + stuck_walks_.size() >= kMostStuck) return {};
  std::vector<TmpfsMount> avoid = each_of(stuck_walks_, &WalkJob::mount);
  for (const auto& job : stuck_looks_) {
    const auto mount = job->waits_for();
    if (!mount) return {};
    avoid.push_back(*mount);
  }
  std::vector<std::shared_ptr<BlockingJob>> jobs;
  if (const auto next = walk ? plan_.next_walk(avoid, boot_ms) : std::nullopt) {
    walk_job_ = std::make_shared<WalkJob>(walk_, *next, limits_);
    jobs.push_back(walk_job_);
  }
  look_job_ = std::make_shared<LookJob>(proc_, look_, mounts_, std::move(avoid));
  jobs.insert(jobs.begin(), look_job_);
  return jobs;
}

void TmpfsReader::take(NameBudget& names, Pass& pass) {
  if (look_job_ != nullptr) take_look(pass);
  if (walk_job_ != nullptr) take_walk(names, pass);
  pass.tick.tmpfs = plan_.tell(pass.tick.keyframe);
}

void TmpfsReader::take_look(Pass& pass) {
  if (keep_stuck(look_job_, stuck_looks_)) {
    const auto mount = look_job_->waits_for();
    pass.note_blocked(mount ? "the tmpfs at " + mount->mount_point : "mountinfo");
    return;
  }
  if (!look_job_->done()) return;
  mounts_ = look_job_->mounts();
  const auto& readings = look_job_->readings();
  if (!readings) {
    if (readings.error().kind == ErrorKind::malformed) pass.note_malformed(readings.error());
    return;
  }
  std::int64_t used_kib = 0;
  for (const TmpfsPlan::Reading& reading : *readings) used_kib += reading.room ? reading.room->used_kib.value_or(0) : 0;
  pass.tick.machine.memory.set(MachineField::tmpfs, used_kib);
  plan_.see(*readings, pass.tick.begin.boot_ms);
}

void TmpfsReader::take_walk(NameBudget& names, Pass& pass) {
  if (keep_stuck(walk_job_, stuck_walks_)) {
    pass.note_blocked("the tmpfs at " + walk_job_->mount().mount_point);
    return;
  }
  if (!walk_job_->done()) return;
  TmpfsTree tree = std::move(walk_job_->tree());
  pass.in_turn_us += tree.cpu_us;
  std::erase_if(tree.largest,
                [&](const TmpfsEntry& entry) { return !names.fit(entry.uid, entry.path, pass.tick.begin.boot_ms); });
  plan_.take(walk_job_->mount(), std::move(tree), pass.tick.begin.wall_ms);
}

}  // namespace memoir
