#pragma once

// Siblings over one shared memory, as the backends of PostgreSQL are: processes of one image and parent that have much
// shared memory mapped. Each reading of one walks all that it has touched of it, and says about the same; and whenever
// one of them begins or ends, all have another share. So a few of them are read, and the rest estimated by those. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collect/pss/estimate.h"

namespace memoir {

struct PoolMember {
  std::int32_t parent_pid = 0;
  std::string_view comm;  // with VmExe the image, as far as that is known of one that has just begun
  const ProcessMemory* now = nullptr;
  const ExactReading* exact = nullptr;  // null: there is none
};

// What siblings have of what they have mapped, by the readings that are newest.
struct PoolShares {
  double anonymous = 1;
  double file = 1;
  double shmem = 1;
};

struct Pool {
  std::vector<std::size_t> members;
  std::optional<PoolShares> shares;  // absent: none was read
  std::size_t room = 0;              // so many are to be read still
};

// So many of a pool are read in so much time.
inline constexpr std::size_t kPoolReadings = 3;
inline constexpr std::int64_t kPoolReadEveryMs = 60'000;
inline constexpr std::size_t kLeastPool = 4;

std::vector<Pool> find_pools(std::span<const PoolMember> members, std::int64_t now_ms);

// Puts what siblings' shares say into the sample of one that is not known: of one that was never read all, else of what
// shared memory it has more than when it was read.
void estimate_by_siblings(const PoolShares& shares, const ExactReading* last, ProcessSample& sample);

}  // namespace memoir
