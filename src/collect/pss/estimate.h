#pragma once

// The PSS of a process between two exact readings, from the counters of its status and from what its last reading said.
// Memory that it shares with nobody counts whole, so that where only its own anonymous memory moved, PSS is known as
// well as if it had been read (page merging by KSM aside). Of shared memory the share is carried on. Pure.

#include <cstdint>

#include "model/process.h"
#include "model/tick.h"

namespace memoir {

struct ExactReading {
  ProcessMemory memory;    // the rollup's fields as read, those of status as counted just before
  std::int64_t at_ms = 0;  // boot clock
  Cost cost{};
  // What was thought before it and others was wrong by this part of what was touched: as learnt, all of it at first.
  double wrong_part = 1;
};

// Each anonymous page was in no other process. Where the kernel does not tell the parts of PSS (before 5.3) nothing is
// sure.
bool anonymous_unshared(const ProcessMemory& read);

// What happened since then among a process and its relatives.
struct KinSince {
  bool forked = false;  // or exec'd, or ended: `related` of estimate()
  // Of minor faults, as the first write to a page that a fork left shared is (copy on write): no more was copied.
  std::int64_t wrote_kib = 0;
};

// Where faults are not known: as much as there is.
inline constexpr std::int64_t kAnyKib = std::int64_t{1} << 50;

// How much of what others may have a part in moved since then, by `now_ms`; with what may have without moving a
// counter: by a relative's doings, and by copies on write.
std::int64_t touched_kib(const ExactReading& last, const ProcessMemory& now, const KinSince& kin, std::int64_t now_ms);

// The `wrong_part` after another reading. An error counts at once; trust grows by and by.
double learn(double wrong_part, std::int64_t touched_kib, std::int64_t error_kib);

// Puts what is to be thought of the rollup's fields into those of `sample`, whose fields of status are those of now,
// and its source: held where PSS is known, else estimated; inaccessible where there is no memory. `related`: the
// process, or a relative of it, forked, exec'd or ended since the reading, so that pages may have got or lost a sharer.
// What says nothing of PSS, such as Referenced, stays as it was read. Estimated PSS_anon is as large as RssAnon where
// all of that is its own, and only there: so who reads it later can tell bounds (pss_bounds in model/process.h).
void estimate(const ExactReading& last, bool related, ProcessSample& sample);

// Of one that may share anonymous memory, where else all of it would be thought to be its own: a page less.
void take_off_shared(ProcessMemory& memory);

}  // namespace memoir
