// The census by /proc: one small read of each process through a kept descriptor, which takes about 1 µs. For a new
// process, or one without a kept descriptor, the start time is read as well.

#include <algorithm>
#include <optional>
#include <unistd.h>
#include <utility>

#include "census/census.h"
#include "proc/pid_stat.h"

namespace memoir {
namespace {

using F = ProcessField;

class ProcCensus final : public Census {
 public:
  ProcCensus(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget) : proc_(std::move(proc)), budget_(budget) {}

  Status read(std::vector<CensusProcess>& processes) override {
    TRY(proc_->list(pids_));
    processes.clear();
    processes.reserve(pids_.size());
    next_.reserve(pids_.size());
    auto known = known_.begin();
    for (const std::int32_t pid : pids_) {
      while (known != known_.end() && known->pid < pid) ++known;
      const bool again = known != known_.end() && known->pid == pid;
      Known process = again ? std::move(*known++) : Known(pid, budget_);
      const auto statm = read(process);
      if (!statm) continue;
      if (!process.kernel_thread) processes.push_back(counted(process, *statm));
      next_.push_back(std::move(process));
    }
    known_.swap(next_);
    next_.clear();
    return Done{};
  }

  std::string_view name() const override { return "proc"; }
  const std::vector<std::int32_t>* listed() const override { return &pids_; }

 private:
  struct Known {
    Known(std::int32_t process, DescriptorBudget& budget) : pid(process), statm(budget) {}

    std::int32_t pid;
    std::uint64_t start_ticks = 0;
    bool kernel_thread = false;
    CachedFile statm;
  };

  static CensusProcess counted(const Known& process, const Statm& statm) {
    CensusProcess seen;
    seen.pid = process.pid;
    seen.start_ticks = process.start_ticks;
    seen.whole = false;
    seen.statm = statm;
    if (statm.size_kib == 0) return seen;  // a zombie
    seen.memory.set(F::vm_size, statm.size_kib);
    seen.memory.set(F::vm_rss, statm.rss_kib);
    seen.memory.set(F::rss_anon, std::max<std::int64_t>(statm.rss_kib - statm.shared_kib, 0));
    return seen;
  }

  // Returns nullopt if the process has exited or if statm could not be parsed.
  std::optional<Statm> read(Known& process) {
    if (process.statm.kept()) {
      const auto statm = read_statm(process);
      // A kernel thread with a size has become a process: a usermode helper of the kernel.
      if (statm && !(process.kernel_thread && statm->size_kib > 0)) return *statm;
      process.statm.close();
    }
    // A file opened by path may belong to another process that reused the pid, so stat is read as well. A process that
    // exited between the two reads is detected at the next scan, when its descriptor cannot be read.
    const auto statm = read_statm(process);
    if (!statm || !identify(process)) return std::nullopt;
    return *statm;
  }

  Result<Statm> read_statm(Known& process) {
    const auto text = TRY(process.statm.read([&] { return proc_->open(process.pid, PidFile::statm); }, buffer_));
    return parse_statm(text, page_kib_);
  }

  bool identify(Known& process) {
    const auto stat = read_pid_stat(*proc_, process.pid, buffer_);
    if (!stat) return false;
    process.start_ticks = stat->start_ticks;
    process.kernel_thread = stat->kernel_thread();
    return true;
  }

  const std::shared_ptr<const ProcFs> proc_;
  DescriptorBudget& budget_;
  const std::int64_t page_kib_ = ::sysconf(_SC_PAGESIZE) / 1024;
  std::vector<std::int32_t> pids_;
  std::vector<Known> known_;  // sorted by pid
  std::vector<Known> next_;   // buffer of read()
  Buffer buffer_;
};

}  // namespace

std::unique_ptr<Census> make_proc_census(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget) {
  return std::make_unique<ProcCensus>(std::move(proc), budget);
}

}  // namespace memoir
