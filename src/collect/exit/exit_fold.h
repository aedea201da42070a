#pragma once

// Folds the exits that the kernel reports between two ticks, so that a flood of exits needs little memory. Pure.

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
  bool sampled = false;                       // the last tick sampled this image
  bool parent_execed = false;                 // its parent exec'd between the previous tick and the fork
  bool execed = false;                        // it exec'd after its fork, since the previous tick
  std::optional<std::int64_t> after_ms = {};  // last time (wall clock) at which it was below its peak, if known
  ExitRecord record;
};

struct SummedExits {
  std::optional<std::uint32_t> uid;  // nullopt for a sum of several users, which has no name
  std::uint64_t cgroup_id = 0;
  std::uint64_t memory_cgroup_id = 0;
  ExitSum sum;  // the names of its user and cgroup are not set
};

class ExitFold {
 public:
  // Sets the peak from which exits of unsampled processes are kept individually; 0 keeps all.
  void set_large(std::int64_t kib) { large_kib_ = kib; }

  struct Clock {
    std::int64_t boot_ms = 0;  // wall clock at boot
    std::int64_t ticks_per_second = 100;
    std::optional<std::int64_t> scanned_ms = {};  // last scan of all peaks, wall clock
  };

  // Takes an event; events must be in order. `known`: the process's key if the previous tick sampled it, otherwise
  // nullptr. Returns the exit if it is kept individually (valid until the next call), otherwise nullptr.
  const KeptExit* note(const ProcessEvent& event, const ProcessKey* known, const Clock& clock);

  struct Taken {
    std::int64_t exits = 0;
    std::vector<KeptExit> kept;
    std::vector<SummedExits> sums;
  };
  // Returns the exits since the last call.
  Taken take();

 private:
  // uid, cgroup in v2, memory cgroup, name
  using SumKey = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>;

  const KeptExit* exit(const ProcessEvent& event, const ProcessKey* known, const Clock& clock);
  void add(const ProcessEvent& event, const ExitRecord& record);
  SumKey key_of(const ProcessEvent& event);
  void begin_block(std::int64_t at_ms);

  std::int64_t large_kib_ = 0;
  Taken taken_;
  std::map<SumKey, SummedExits> sums_;
  std::set<std::int32_t> sharing_;               // pids that share their parent's memory
  std::map<std::int32_t, std::uint32_t> execs_;  // number of execs since the previous tick, by pid
  std::set<std::int32_t> parent_execed_;         // pids whose parent exec'd, for KeptExit::parent_execed
  // Limits the number of rows per block, because otherwise a user could fill the file.
  std::int64_t block_ = 0;
  std::set<SumKey> names_;  // names in this block
  std::size_t kept_ = 0;    // unsampled processes kept in this block
  struct OfUser {
    std::size_t names = 0;
    std::size_t kept = 0;
  };
  std::map<std::uint32_t, OfUser> of_user_;  // numbers of names and kept processes of each user in this block
};

// Duration of a block. The store adds up the sums of one block in the same rows.
inline constexpr std::int64_t kExitBlockMs = 5 * 60 * 1000;

}  // namespace memoir
