// Daily cost of recording details: mappings, cgroups, tmpfs mounts and SysV segments. Processes and tmpfs mounts are
// real; the cgroups are a fake v2 tree. At each tick some processes change together with their cgroups. The real
// readers and the real writer run on a clock that advances 10 s per tick. The same ticks are stored with and without
// the details. All times are CPU time; the mapping reader measures its own. The CPU budget of mapping reads also bounds
// the reads of swap shares.
//
// holders_bench [HOURS [CHANGING]]: by default 3 hours, and a share of 0.05 of the processes changes per tick.

#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <vector>

#include "base/cached_file.h"
#include "base/clock.h"
#include "cgroup_tree.h"
#include "collect/collector.h"
#include "cost.h"
#include "population.h"
#include "proc/sysvipc_shm.h"
#include "store.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"
#include "tmpfs_mounts.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr double kTicksADay = 86'400'000.0 / kTickMs;
constexpr std::size_t kProcesses = 300;
constexpr std::size_t kCgroups = 200;
constexpr int kFiles = 10'000;
constexpr std::size_t kTicksAnHour = 360;
// Targets per day: a tenth of the bytes of raw data of a simulated day, and 0.03 % of a core.
constexpr double kMaxBytes = 0.1 * 9e6;
constexpr double kMaxSeconds = 0.0003 * 86'400;

// The kernel deletes the segments when this process exits.
void make_segments(int count) {
  constexpr std::size_t bytes = 256 * 1024;
  for (int i = 0; i < count; ++i) {
    const int id = ::shmget(IPC_PRIVATE, bytes, 0600);
    if (id < 0 || ::shmat(id, nullptr, 0) == reinterpret_cast<void*>(-1)) throw std::runtime_error("no segments");
    ::shmctl(id, IPC_RMID, nullptr);
  }
}

// Distributes processes over the cgroups; at each tick the next `count` processes change.
class Members {
 public:
  explicit Members(const CgroupTree& tree) : tree_(tree) {
    for (std::size_t i = 0; i < kProcesses; ++i) members_.push_back({tree.paths()[i % tree.paths().size()], false});
  }

  void move(std::size_t count) {
    for (CgroupMember& member : members_) member.moved = false;
    for (std::size_t i = 0; i < count; ++i, ++next_) {
      const std::size_t index = next_ % members_.size();
      members_[index].moved = true;
      // The cgroup grows with the process and never shrinks.
      const std::size_t group = index % tree_.paths().size();
      tree_.hold(group, held_kib_[group] += 64);
    }
  }
  const std::vector<CgroupMember>& all() const { return members_; }

 private:
  const CgroupTree& tree_;
  std::vector<CgroupMember> members_;
  std::vector<std::int64_t> held_kib_ = std::vector<std::int64_t>(tree_.paths().size(), 400'000);
  std::size_t next_ = 0;
};

struct Sums {
  double summaries_us = 0;
  double cgroups_us = 0;
  double segments_us = 0;
  double tmpfs_us = 0;
};

// Returns the tick without the details, but with the usage and limits of cgroups, which are always recorded.
Tick without(Tick tick) {
  tick.summaries.clear();
  tick.cgroup_details.reset();
  tick.containers.clear();
  tick.segments.reset();
  tick.tmpfs.reset();
  for (CgroupSample& sample : tick.cgroups) {
    for (auto* const part : {&sample.anon_kib, &sample.shmem_kib, &sample.kernel_kib}) part->reset();
  }
  return tick;
}

Tick without_cgroups(Tick tick) {
  tick = without(std::move(tick));
  tick.cgroups.clear();
  return tick;
}

double segments_us(const ProcFs& proc, Buffer& buffer) {
  return cost_us([&] {
    const auto text = need(read_file(proc.path(SystemFile::sysvipc_shm), buffer));
    need(parse_sysvipc_shm(text));
  });
}

class Day {
 public:
  Day(const CgroupTree& tree, const TmpfsMounts& mounts, const std::string& folder)
      : cgroups_(tree),
        members_(tree),
        tmpfs_(mounts, {64, 8}),
        collector_(make_proc_source(proc_, clock_, need(Categoriser::make(default_category_rules())),
                                    need(Redactor::make(RedactionOptions{})), options(folder))),
        all_(folder + "/all.db", boot_, clock_.now(), kTickMs),
        before_(folder + "/before.db", boot_, clock_.now(), kTickMs),
        least_(folder + "/least.db", boot_, clock_.now(), kTickMs) {}

  void run(Population& population, std::size_t ticks, std::size_t moving) {
    for (std::size_t i = 0; i < ticks; ++i) {
      population.stir(moving);
      members_.move(moving);
      take(need(collector_->collect(i % kTicksAnHour == 0)), i);
      clock_.advance(kTickMs);
    }
    all_bytes_ = all_.close(clock_.now());
    before_bytes_ = before_.close(clock_.now());
    min_bytes_ = least_.close(clock_.now());
  }

  void print(double days) const;

 private:
  static CollectorOptions options(const std::string& folder) {
    CollectorOptions options;
    options.max_descriptors = raise_descriptor_limit();
    options.cgroup_root = folder + "/none";
    options.tmpfs_interval = std::chrono::milliseconds(0);
    return options;
  }

  void take(Tick tick, std::size_t number) {
    tick.cgroups.clear();
    tick.cgroup_details.reset();
    constexpr std::size_t scan_every = 30;
    sums_.cgroups_us += cost_us([&] { cgroups_.take(members_.all(), number % scan_every == 0, tick); });
    tmpfs_.take(tick);
    sums_.segments_us += segments_us(proc_, cgroups_.buffer());
    for (const ProcessMappings& summary : tick.summaries) sums_.summaries_us += static_cast<double>(summary.cpu_us);
    all_us_ += all_.write(tick);
    before_us_ += before_.write(without(tick));
    min_us_ += least_.write(without_cgroups(std::move(tick)));
  }

  ProcFs proc_;
  test::ManualClock clock_{SystemClock().now()};
  BootInfo boot_ = need(proc_.boot(clock_.now()));
  CgroupTicks cgroups_;
  Members members_;
  TmpfsTicks tmpfs_;
  std::unique_ptr<TickSource> collector_;
  Store all_;
  Store before_;
  Store least_;
  Sums sums_;
  double all_us_ = 0;
  double before_us_ = 0;
  double min_us_ = 0;
  double all_bytes_ = 0;
  double before_bytes_ = 0;
  double min_bytes_ = 0;
};

void line(const char* what, double value, const char* unit) {
  fmt::print("{:<48}{:>10.2f} {}\n", what, value, unit);
}

void Day::print(double days) const {
  const auto a_day = [days](double us) { return us / days / 1e6; };
  const double budget_s = static_cast<double>(MappingLimits{}.cpu_us_an_hour) * 24 / 1e6;
  const double tmpfs_us = tmpfs_.scan_us() + tmpfs_.walk_us();
  const double stored_us = all_us_ - before_us_;
  const double others_us = sums_.cgroups_us + sums_.segments_us + tmpfs_us + stored_us;
  const char* const seconds = "s of CPU a day";
  const char* const megabytes = "MB a day";
  line("mapping summaries", a_day(sums_.summaries_us), seconds);
  line("mapping summaries and shares of swap, at most (budget)", budget_s, seconds);
  line("cgroups, all reading", a_day(sums_.cgroups_us), seconds);
  line("SysV segments", a_day(sums_.segments_us), seconds);
  line("tmpfs", a_day(tmpfs_us), seconds);
  line("storing it", a_day(stored_us), seconds);
  line("all", a_day(sums_.summaries_us + others_us), seconds);
  line("all, with the budget of mapping summaries used up", budget_s + a_day(others_us), seconds);
  line("  target", kMaxSeconds, seconds);
  line("the file, by it", (all_bytes_ - before_bytes_) / days / 1e6, megabytes);
  line("  target", kMaxBytes / 1e6, megabytes);
  line("  of what it would be without", 100 * (all_bytes_ - before_bytes_) / before_bytes_, "%");
  line("the file, by the limits and usage of cgroups", (before_bytes_ - min_bytes_) / days / 1e6, megabytes);
  line("the file, without any of it", min_bytes_ / days / 1e6, megabytes);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::size_t ticks = (argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 3) * kTicksAnHour;
  const double share = argc > 2 ? std::atof(argv[2]) : 0.05;
  const auto moving = static_cast<std::size_t>(share * kProcesses);
  Population population(kProcesses, 2048);
  make_segments(20);
  const test::TemporaryDirectory folder;
  const CgroupTree tree(folder.path(), false, kCgroups);
  const TmpfsMounts mounts(kFiles);
  Day day(tree, mounts, folder.path());
  day.run(population, ticks, moving);
  fmt::print("{} processes, of which {} move in a tick, {} cgroups, {} tmpfs {} with {} files each\n\n", kProcesses,
             moving, tree.paths().size(), TmpfsMounts::kMounts, mounts.real() ? "mounts" : "folders of one mount",
             kFiles);
  day.print(static_cast<double>(ticks) / kTicksADay);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "holders_bench: {}\n", error.what());
  return 1;
}
