#pragma once

// Folds the exits between two ticks as the kernel reports them, so that a flood of them takes no memory. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "census/events.h"
#include "model/exit.h"

namespace memoir {

// An exit that is reported individually.
struct KeptExit {
  ProcessEvent event;
  ProcessKey key;
  bool sampled = false;                       // a tick sampled this image
  bool parent_execed = false;                 // its parent had exec'd between the previous tick and the fork
  bool execed = false;                        // it exec'd after its fork, since the previous tick
  std::optional<std::int64_t> after_ms = {};  // last time (wall clock) below its peak, as far as known
  ExitRecord record;
};

struct SummedExits {
  std::optional<std::uint32_t> uid;  // nullopt for several users, like the name
  std::uint64_t cgroup_id = 0;
  std::uint64_t memory_cgroup_id = 0;
  ExitSum sum;  // without the names that the two fields represent
};

class ExitFold {
 public:
  // Unsampled processes are kept from this peak on. 0: all of them.
  void set_large(std::int64_t kib) { large_kib_ = kib; }

  struct Clock {
    std::int64_t boot_ms = 0;  // wall clock at boot
    std::int64_t ticks_per_second = 100;
    std::optional<std::int64_t> scanned_ms = {};  // last observation of peaks, wall clock
  };

  // Takes events in order. `known`: its key, if the previous tick sampled it. Returns the exit if it is reported
  // individually, valid until the next call; otherwise nullptr.
  const KeptExit* note(const ProcessEvent& event, const ProcessKey* known, const Clock& clock);

  struct Taken {
    std::int64_t exits = 0;
    std::vector<KeptExit> kept;
    std::vector<SummedExits> sums;
  };
  // Returns the exits since the last call.
  Taken take();

 private:
  using SumKey = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>;  // user, cgroups, name

  const KeptExit* exit(const ProcessEvent& event, const ProcessKey* known, const Clock& clock);
  void add(const ProcessEvent& event, const ExitRecord& record);
  SumKey key_of(const ProcessEvent& event);
  void begin_block(std::int64_t at_ms);

  std::int64_t large_kib_ = 0;
  Taken taken_;
  std::map<SumKey, SummedExits> sums_;
  std::set<std::int32_t> sharing_;               // pids that share their parent's memory
  std::map<std::int32_t, std::uint32_t> execs_;  // since the previous tick, by pid
  std::set<std::int32_t> parent_execed_;         // pids: see KeptExit
  // Limits the rows per time, since a user could fill the file.
  std::int64_t block_ = 0;
  std::set<SumKey> names_;  // in this block
  std::size_t kept_ = 0;    // in this block, unsampled ones
  struct OfUser {
    std::size_t names = 0;
    std::size_t kept = 0;
  };
  std::map<std::uint32_t, OfUser> of_user_;  // in this block, likewise
};

// Duration of a sum: the store adds to its rows for this time.
inline constexpr std::int64_t kExitBlockMs = 5 * 60 * 1000;

}  // namespace memoir
