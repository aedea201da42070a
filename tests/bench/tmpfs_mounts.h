#pragma once

// Tmpfs mounts full of files for the benchmarks, read by the collector's plan at each tick.

#include <cstdint>
#include <vector>

#include "collect/tmpfs/plan.h"
#include "model/tick.h"

namespace memoir::bench {

// Three mounts, or three folders of /dev/shm without permission to mount.
class TmpfsMounts {
 public:
  static constexpr int kMounts = 3;

  explicit TmpfsMounts(int files);
  ~TmpfsMounts();
  TmpfsMounts(const TmpfsMounts&) = delete;
  TmpfsMounts& operator=(const TmpfsMounts&) = delete;

  const std::vector<TmpfsMount>& list() const { return mounts_; }
  bool real() const { return real_; }

 private:
  std::vector<TmpfsMount> mounts_;
  bool real_ = true;
};

// The growth of each mount per tick; one entry in `one_of` changes.
struct TmpfsMoves {
  std::int64_t kib = 0;
  std::size_t one_of = 1;
};

class TmpfsTicks {
 public:
  TmpfsTicks(const TmpfsMounts& mounts, TmpfsMoves moves) : mounts_(mounts), moves_(moves) {}

  // Adds the mounts to `tick`.
  void take(Tick& tick);

  double scan_us() const { return scan_us_; }
  double walk_us() const { return walk_us_; }
  int walks() const { return walks_; }

 private:
  void look(const Tick& tick);
  void walk(const TmpfsMount& mount, const Tick& tick);

  const TmpfsMounts& mounts_;
  TmpfsMoves moves_;
  TmpfsPlan plan_{30 * 60'000};
  std::int64_t moved_kib_ = 0;
  double scan_us_ = 0;
  double walk_us_ = 0;
  int walks_ = 0;
};

}  // namespace memoir::bench
