#pragma once

// Estimates how much the PSS of a process may have changed since its last reading because other processes mapped or
// released files and shared memory. The counters of the process do not show this. It is unknown which processes map the
// same pages, so each may be affected, up to its own mapped memory. Pure.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/process.h"

namespace memoir {

// Mapped memory of one kind, which other processes may map as well.
struct SharedUse {
  std::int64_t rss_kib = 0;
  std::int64_t pss_kib = 0;

  bool operator==(const SharedUse&) const = default;
};

// The two kinds: files, and shared memory (tmpfs, memfd and System V segments).
using SharedUses = std::array<SharedUse, 2>;

SharedUses shared_uses(const ProcessMemory& memory);

// Mapped memory of a process at the previous tick.
struct ObservedMapper {
  SharedUses uses{};
  std::int64_t first_ms = 0;                // boot clock of the first tick that observed it
  std::array<std::int64_t, 2> taken_kib{};  // possible change of each other process in that tick
};

class MapperChanges {
 public:
  void observe(const SharedUses& now, bool execed, std::int64_t now_ms, std::optional<ObservedMapper>& mapper);
  void observe_exit(const ObservedMapper& mapper, std::int64_t now_ms);

  // Sums up the observations of a tick. Returns false if there was no change.
  bool finish(std::int64_t now_ms);

  // Returns by how much the PSS of a process with these mappings may have changed since it was read, in KiB.
  std::int64_t change_kib(const SharedUses& uses, std::int64_t read_ms) const;

 private:
  // A change that applies to processes that were read before `before_ms`, but not before `before_ms` of the previous
  // change.
  struct Change {
    std::int64_t before_ms = 0;
    std::array<std::int64_t, 2> kib{};
    std::array<std::int64_t, 2> since_kib{};  // sum of this change and the following ones
  };

  void add(std::size_t kind, std::int64_t kib, std::int64_t before_ms);

  std::vector<Change> changes_;  // sorted by before_ms
  bool changed_ = false;
};

}  // namespace memoir
