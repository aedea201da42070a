#pragma once

// Pools of siblings that share memory, such as the backends of PostgreSQL: processes of one image and parent that map
// much shared memory. Reading one of them walks all shared memory that it has touched, and the results are similar.
// When one starts or exits, the shares of all of them change. So only a few are read, and the others are estimated from
// these readings. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collect/pss/estimate.h"

namespace memoir {

struct PoolMember {
  std::int32_t parent_pid = 0;
  std::string_view comm;                // with VmExe it identifies the image, as far as known for a new process
  const ProcessMemory* now = nullptr;   // current memory, with its currently known PSS if it was read
  const ExactReading* exact = nullptr;  // nullptr if it was not read
};

// PSS of siblings relative to their mapped memory, from the newest readings and the changes known since.
struct PoolShares {
  double anonymous = 1;
  double file = 1;
  double shmem = 1;
  double private_anonymous = 1;  // private part of the anonymous memory
  double private_file = 0;
  double swap_pss = 1;               // SwapPss relative to VmSwap
  std::int64_t shared_swap_kib = 0;  // swap of shared memory, which VmSwap omits
};

struct Pool {
  std::vector<std::size_t> members;
  std::optional<PoolShares> shares;  // nullopt if no member was read
  std::size_t room = 0;              // number of further reads that are needed
};

// Number of readings that a pool needs per interval.
inline constexpr std::size_t kPoolReadings = 3;
inline constexpr std::int64_t kPoolReadEveryMs = 60'000;
inline constexpr std::size_t kMinPool = 4;

std::vector<Pool> find_pools(std::span<const PoolMember> members, std::int64_t now_ms);

// Estimates an unknown PSS from siblings. For a process that was never read, all of it is estimated; otherwise only the
// shared memory that it gained since its reading.
void estimate_by_siblings(const PoolShares& shares, const ExactReading* last, ProcessSample& sample);

}  // namespace memoir
