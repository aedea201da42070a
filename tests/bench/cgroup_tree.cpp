#include "cgroup_tree.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "support/cgroup_reads.h"

namespace memoir::bench {
namespace {

namespace fs = std::filesystem;

void put(const std::string& folder, const char* file, const std::string& text) {
  std::ofstream(fmt::format("{}/memory.{}", folder, file)) << text;
}

void put_usage(const std::string& folder, std::int64_t kib) {
  put(folder, "current", fmt::format("{}\n", kib * 1024));
  std::string stat = fmt::format("anon {}\nfile 125829120\nkernel 8388608\nshmem 4194304\n", kib * 2 / 3 * 1024);
  for (int i = 0; i < 20; ++i) stat += fmt::format("some_size_{} 135168\n", i);
  stat += "inactive_file 83886080\nactive_file 37748736\n";
  for (int i = 0; i < 25; ++i) stat += fmt::format("some_event_{} 2048\n", i);
  put(folder, "stat", stat);
}

void fill(const std::string& folder) {
  put_usage(folder, 393'216);
  put(folder, "swap.current", "0\n");
  for (const char* file : {"high", "swap.max"}) put(folder, file, "max\n");
  for (const char* file : {"min", "low"}) put(folder, file, "0\n");
  put(folder, "peak", "503316480\n");
  const char* const events = "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n";
  for (const char* file : {"events", "events.local"}) put(folder, file, events);
  put(folder, "pressure",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
}

}  // namespace

CgroupTree::CgroupTree(std::string root, bool v1, std::size_t groups) : root_(std::move(root)), v1_(v1) {
  const std::string top = fmt::format("/memoir-bench-{}", ::getpid());
  usable_ = make(top);
  std::string slice;
  for (std::size_t i = 0; usable_ && i < groups; ++i) {
    const bool is_slice = i % 21 == 0;
    if (is_slice) slice = fmt::format("{}/slice-{}.slice", top, i);
    usable_ = make(is_slice ? slice : fmt::format("{}/some-service-{}.service", slice, i));
  }
}

CgroupTree::~CgroupTree() {
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    if (v1_) ::rmdir(folder->c_str());
  }
}

void CgroupTree::hold(std::size_t index, std::int64_t kib) const {
  put_usage(made_.at(index), kib);
}

bool CgroupTree::make(const std::string& path) {
  const std::string folder = root_ + (v1_ ? "/memory" : "") + path;
  std::error_code error;
  if (!fs::create_directory(folder, error)) return false;
  made_.push_back(folder);
  paths_.push_back(path);
  if (!v1_) fill(folder);
  std::ofstream(folder + (v1_ ? "/memory.limit_in_bytes" : "/memory.max")) << "1073741824\n";
  return true;
}

void CgroupTicks::take(const std::vector<CgroupMember>& members, bool all, Tick& tick) {
  CollectContext context{.tick = tick, .buffer = buffer_};
  test::read_cgroups(reader_, members, all, context);
}

}  // namespace memoir::bench
