#pragma once

// Detects that known shares of shared memory are out of date. A process that maps or releases memory of other processes
// changes their PSS, but not their counters. Mapped of /proc/meminfo counts each mapped page of a file or of shared
// memory once, as does the sum of Pss_File and Pss_Shmem over all processes. So while all shares are right, the two
// differ by a constant, which is the memory of unreadable processes. If the difference changes, the largest holders
// that have not been read since become due. Until then their shares are corrected, each time by what the last
// corrections left over. Pure.

#include <cstdint>
#include <optional>
#include <vector>

namespace memoir {

// A process that maps shared memory: files, tmpfs, memfd and System V segments.
struct SharedHolder {
  std::int64_t pss_kib = 0;       // as read, or estimated and corrected since
  std::int64_t rss_kib = 0;       // all of its mapped shared memory
  std::int64_t moved_kib = 0;     // change of rss_kib since it was read; the share is uncertain by this much
  std::int64_t read_ms = 0;       // boot clock, time of its last reading
  std::int64_t replaced_kib = 0;  // reading of this tick minus the corrected value before it
  bool is_known = false;          // pss_kib is known

  std::int64_t error_kib = 0;  // result: correction of pss_kib; 0 if there is no sign of an error
};

class SharedDrift {
 public:
  // Sets the errors of holders that may be wrong. Call it before the reads of a tick and again after them.
  void find_errors(std::optional<std::int64_t> mapped_kib, std::int64_t now_ms, bool after_reads,
                   std::vector<SharedHolder>& holders);

 private:
  struct Sums {
    std::int64_t known_kib = 0;    // PSS of processes with a known PSS
    std::int64_t unknown_kib = 0;  // RSS of processes without a known PSS
    std::int64_t moved_kib = 0;
    std::int64_t replaced_kib = 0;
  };
  static Sums sums_of(const std::vector<SharedHolder>& holders);
  std::int64_t drift_kib(std::int64_t mapped_kib, const Sums& sums) const;
  bool spread(std::int64_t drift_kib, std::int64_t limit_kib, std::vector<SharedHolder>& holders) const;

  std::optional<std::int64_t> rest_kib_;  // Mapped minus the known PSS, when all shares were right
  std::int64_t unknown_kib_ = 0;          // RSS of processes without a known PSS at that time
  std::optional<std::int64_t> since_ms_;  // last change of shares (older readings may be wrong); nullopt: none
};

}  // namespace memoir
