#include "collect/tmpfs_reader.h"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace memoir {
namespace {

// Each has a thread.
constexpr std::size_t kMostStuck = 2;

bool same_device(const TmpfsMount& a, const TmpfsMount& b) {
  return a.major == b.major && a.minor == b.minor;
}

}  // namespace

class TmpfsReader::Job final : public BlockingJob {
 public:
  Job(std::shared_ptr<const ProcFs> proc, UsedKib used_kib, Mounts mounts, std::vector<TmpfsMount> avoid)
      : BlockingJob(CostKind::machine),
        proc_(std::move(proc)),
        used_kib_(std::move(used_kib)),
        mounts_(std::move(mounts)),
        avoid_(std::move(avoid)) {}

  void run(Buffer& buffer) override {
    if (mounts_ == nullptr) read_mounts(buffer);
    if (mounts_ != nullptr) sum_ = sum_of_mounts();
  }

  // Of one that is held: what it waits for. Absent: the table itself.
  std::optional<TmpfsMount> waits_for() const {
    const std::size_t at = at_.load(std::memory_order_acquire);
    return at == 0 ? std::nullopt : std::optional((*mounts_)[at - 1]);
  }

  // Of one that is done.
  const Mounts& mounts() const { return mounts_; }
  const Result<std::int64_t>& sum() const { return sum_; }

 private:
  void read_mounts(Buffer& buffer) {
    const auto text = read_file(proc_->path(SystemFile::mountinfo), buffer);
    auto mounts = text ? parse_tmpfs_mounts(*text) : Result<std::vector<TmpfsMount>>(text.error());
    if (!mounts) {
      sum_ = mounts.error();
      return;
    }
    mounts_ = std::make_shared<const std::vector<TmpfsMount>>(*std::move(mounts));
  }

  // Each file system once, by the first of its mounts that answers.
  std::int64_t sum_of_mounts() {
    std::int64_t sum = 0;
    const TmpfsMount* counted = nullptr;
    for (std::size_t i = 0; i < mounts_->size(); ++i) {
      const TmpfsMount& mount = (*mounts_)[i];
      if (counted != nullptr && same_device(*counted, mount)) continue;
      if (std::find(avoid_.begin(), avoid_.end(), mount) != avoid_.end()) continue;
      at_.store(i + 1, std::memory_order_release);
      const auto used = used_kib_(mount);
      if (!used) continue;
      sum += *used;
      counted = &mount;
    }
    return sum;
  }

  const std::shared_ptr<const ProcFs> proc_;
  const UsedKib used_kib_;
  Mounts mounts_;
  const std::vector<TmpfsMount> avoid_;
  std::atomic<std::size_t> at_{0};  // in the mounts, from 1; what was stored before can be read by who sees it
  Result<std::int64_t> sum_ = Error{ErrorKind::io, "mountinfo: not read"};
};

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

std::shared_ptr<BlockingJob> TmpfsReader::ask(bool again) {
  std::erase_if(stuck_, [](const std::shared_ptr<Job>& job) { return !job->held(); });
  job_ = nullptr;
  if (mounts_changed() || again) mounts_ = nullptr;
  if (stuck_.size() >= kMostStuck) return nullptr;
  std::vector<TmpfsMount> avoid;
  for (const auto& job : stuck_) {
    const auto mount = job->waits_for();
    if (!mount) return nullptr;
    avoid.push_back(*mount);
  }
  job_ = std::make_shared<Job>(proc_, used_kib_, mounts_, std::move(avoid));
  return job_;
}

void TmpfsReader::take(Pass& pass) {
  if (job_ == nullptr) return;
  if (job_->held()) {
    const auto mount = job_->waits_for();
    pass.note_blocked(mount ? "the tmpfs at " + mount->mount_point : "mountinfo");
    stuck_.push_back(job_);
    return;
  }
  if (!job_->done()) return;
  mounts_ = job_->mounts();
  if (job_->sum()) {
    pass.tick.machine.memory.set(MachineField::tmpfs, *job_->sum());
  } else if (job_->sum().error().kind == ErrorKind::malformed) {
    pass.note_malformed(job_->sum().error());
  }
}

}  // namespace memoir
