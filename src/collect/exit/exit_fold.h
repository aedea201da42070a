#pragma once

// The ends of processes between two ticks, folded as the kernel tells of them: a storm of them takes no memory. Pure.

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

// An end that is told by itself.
struct KeptEnd {
  ProcessEvent event;
  ProcessKey key;
  bool sampled = false;                       // a tick saw this image of it
  bool execed = false;                        // it ran another image than who forked it, since the tick before
  std::optional<std::int64_t> after_ms = {};  // when it did not have its peak yet (wall clock), as far as is known
  ProcessEnd end;
};

struct SummedEnds {
  std::optional<std::uint32_t> uid;  // absent: of several, as the name
  std::uint64_t cgroup_id = 0;
  std::uint64_t memory_cgroup_id = 0;
  EndSum sum;  // without the names that the two stand for
};

class Ends {
 public:
  // Those that no tick saw are kept from this peak on. 0: all of them.
  void set_large(std::int64_t kib) { large_kib_ = kib; }

  struct Clock {
    std::int64_t boot_ms = 0;  // of the wall clock
    std::int64_t ticks_per_second = 100;
    std::optional<std::int64_t> looked_ms = {};  // when peaks were seen last, by the wall clock
  };

  // In their order. `known`: its key, where the tick before saw it. Returns the end that is to be told by itself, until
  // the next call; nullptr: it is not one.
  const KeptEnd* note(const ProcessEvent& event, const ProcessKey* known, const Clock& clock);

  struct Taken {
    std::int64_t ends = 0;
    std::vector<KeptEnd> kept;
    std::vector<SummedEnds> sums;
  };
  // Those since the last time.
  Taken take();

 private:
  using SumKey = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>;  // user, cgroups, name

  const KeptEnd* end(const ProcessEvent& event, const ProcessKey* known, const Clock& clock);
  void add(const ProcessEvent& event, const ProcessEnd& end);
  SumKey key_of(const ProcessEvent& event);
  void begin_block(std::int64_t at_ms);

  std::int64_t large_kib_ = 0;
  Taken taken_;
  std::map<SumKey, SummedEnds> sums_;
  std::set<std::int32_t> sharing_;               // pids whose memory is their parent's
  std::map<std::int32_t, std::uint32_t> execs_;  // since the tick before, by pid
  // What bounds the rows of a time: there are people who would fill the file.
  std::int64_t block_ = 0;
  std::set<SumKey> names_;  // of the block
  std::size_t kept_ = 0;    // in the block, of those that no tick saw
};

// How long a sum is: the store adds to its rows for so long.
inline constexpr std::int64_t kEndBlockMs = 5 * 60 * 1000;

}  // namespace memoir
