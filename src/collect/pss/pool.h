#pragma once

// Siblings that share one memory, such as the backends of PostgreSQL: processes of one image and parent with much
// shared memory mapped. Each reading of one walks all shared memory that it touched, with similar results. Whenever one
// starts or exits, the shares of all change. So a few of them are read, and the others are estimated from those. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collect/pss/estimate.h"

namespace memoir {

struct PoolMember {
  std::int32_t parent_pid = 0;
  std::string_view comm;                // identifies the image together with VmExe, as far as known for a new process
  const ProcessMemory* now = nullptr;   // current memory, with its currently known PSS if it was read
  const ExactReading* exact = nullptr;  // nullptr: none
};

// PSS of siblings relative to their mapped memory, from the newest readings and known changes since.
struct PoolShares {
  double anonymous = 1;
  double file = 1;
  double shmem = 1;
  double private_anonymous = 1;  // USS
  double private_file = 0;
  double swap_pss = 1;               // of VmSwap
  std::int64_t shared_swap_kib = 0;  // swap of shared memory, which VmSwap omits
};

struct Pool {
  std::vector<std::size_t> members;
  std::optional<PoolShares> shares;  // nullopt if none was read
  std::size_t room = 0;              // number of reads still needed
};

// Number of readings of a pool per interval.
inline constexpr std::size_t kPoolReadings = 3;
inline constexpr std::int64_t kPoolReadEveryMs = 60'000;
inline constexpr std::size_t kMinPool = 4;

std::vector<Pool> find_pools(std::span<const PoolMember> members, std::int64_t now_ms);

// Estimates an unknown PSS from siblings: all of it for a process that was never read, otherwise only the shared memory
// gained since its reading.
void estimate_by_siblings(const PoolShares& shares, const ExactReading* last, ProcessSample& sample);

}  // namespace memoir
