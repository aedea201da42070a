// Cost of reading cgroups. A sweep over many cgroups is compared with bare reads of the same files; a day of ticks
// follows the collector's plan. The fake v2 tree consists of ordinary files, which cost less than the kernel's own. The
// real v1 memory controller is used if cgroups can be created there.
//
// cgroup_bench [CHANGING]: the share of processes that change per tick, by default 0.2.

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "cgroup_tree.h"
#include "cost.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 21;
constexpr std::int64_t kTickMs = 10'000;
constexpr int kTicksPerHour = 360;
constexpr double kUsPerS = 1e6;

// The files of a cgroup that are read at a tick if the cgroup changed. The real cgroups are empty, so their breakdown
// is not read.
std::vector<std::string> files_of(const CgroupTree& tree) {
  if (tree.v1()) return {"memory.usage_in_bytes"};
  return {"memory.current", "memory.swap.current", "memory.stat"};
}

// Reads the files of all cgroups from cached descriptors and discards them.
class Bare {
 public:
  explicit Bare(const CgroupTree& tree) {
    for (const std::string& folder : tree.folders()) {
      for (const std::string& file : files_of(tree)) files_.push_back(need(open_file(folder + "/" + file)));
    }
  }
  void read(Buffer& buffer) const {
    for (const Fd& file : files_) need(read_all(file, buffer, "a file"));
  }

 private:
  std::vector<Fd> files_;
};

// Reads the cgroups at each tick of a simulated clock.
class Clocked {
 public:
  explicit Clocked(const CgroupTree& tree) : ticks_(tree) {}

  void take(const std::vector<CgroupMember>& members, bool all) {
    Tick tick;
    tick.begin.boot_ms = now_ms_ += kTickMs;
    ticks_.take(members, all, tick);
  }
  Buffer& buffer() { return ticks_.buffer(); }

 private:
  CgroupTicks ticks_;
  std::int64_t now_ms_ = 1'000'000;
};

// Changes the usage of a fake cgroup by more than a 256th, the minimum that counts as a change.
void move(const CgroupTree& tree, std::size_t group, int round) {
  if (!tree.v1()) tree.hold(group, 393'216 + round % 2 * 4096);
}

// Measures ticks in which all cgroups changed. Each reads their usage, but not their slow-changing counters.
void sweep(const CgroupTree& tree) {
  std::vector<CgroupMember> members;
  for (const std::string& path : tree.paths()) members.push_back({path, true});
  Clocked ticks(tree);
  const Bare bare(tree);
  ticks.take(members, true);
  std::vector<double> bare_us;
  std::vector<double> reader_us;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t group = 0; group < tree.paths().size(); ++group) move(tree, group, round);
    double us = 0;
    const auto read_bare = [&] { bare_us.push_back(cost_us([&] { bare.read(ticks.buffer()); })); };
    const auto take_tick = [&] { us = cost_us([&] { ticks.take(members, false); }); };
    // The second of the two finds warm caches, so the order alternates.
    if (round % 2 == 0) {
      read_bare();
      take_tick();
    } else {
      take_tick();
      read_bare();
    }
    if (round % 6 != 5) reader_us.push_back(us);  // once a minute the details are read
  }
  fmt::print("{:<10} {:>6} {:>12.0f} {:>12.0f} {:>8.2f}\n", tree.v1() ? "v1, real" : "v2, fake", tree.paths().size(),
             median(bare_us), median(reader_us), median(reader_us) / median(bare_us));
}

// Measures an hour of ticks and multiplies by 24.
void day(const CgroupTree& tree, std::size_t processes, double moving) {
  std::mt19937 random(1);
  std::vector<CgroupMember> members;
  for (std::size_t i = 0; i < processes; ++i) members.push_back({tree.paths()[i % tree.paths().size()], true});
  Clocked ticks(tree);
  ticks.take(members, true);
  double us = 0;
  for (int i = 0; i < kTicksPerHour; ++i) {
    for (std::size_t member = 0; member < processes; ++member) {
      members[member].moved = std::bernoulli_distribution(moving)(random);
      if (members[member].moved) move(tree, member % tree.paths().size(), i);
    }
    const bool look = i % 30 == 29;  // every five minutes
    us += cost_us([&] { ticks.take(members, look); });
  }
  fmt::print("{:<10} {:>6} {:>10} {:>9.0f}% {:>14.1f} {:>16.2f}\n", tree.v1() ? "v1, real" : "v2, fake",
             tree.paths().size(), processes, moving * 100, us / kTicksPerHour, us * 24 / kUsPerS);
}

}  // namespace

int main(int argc, char** argv) {
  const double moving = argc > 1 ? std::atof(argv[1]) : 0.2;
  const test::TemporaryDirectory folder;
  const auto trees = [&](std::size_t groups, const auto& visit) {
    visit(CgroupTree(folder.path(), false, groups));
    const CgroupTree real("/sys/fs/cgroup", true, groups);
    if (real.usable()) {
      visit(real);
    } else {
      fmt::print("v1: no groups can be made here\n");
    }
    fs::remove_all(fmt::format("{}/memoir-bench-{}", folder.path(), ::getpid()));
  };
  fmt::print("{:<10} {:>6} {:>12} {:>12} {:>8}\n", "SWEEP", "GROUPS", "BARE us", "READER us", "RATIO");
  trees(500, [](const CgroupTree& tree) { sweep(tree); });
  fmt::print("\n{:<10} {:>6} {:>10} {:>10} {:>14} {:>16}\n", "A DAY", "GROUPS", "PROCESSES", "MOVING", "us PER TICK",
             "CPU s PER DAY");
  for (const double share : {0.0, moving, 1.0}) trees(200, [&](const CgroupTree& tree) { day(tree, 300, share); });
}
