#pragma once

// High-water marks while they grow: pure, in the writer's memory.

#include <array>
#include <cstdint>
#include <optional>

#include "model/tick.h"
#include "store/types.h"

namespace memoir {

using MarkValues = std::array<std::optional<std::int64_t>, 4>;

// What a sample has to say to each of the sampled_marks of its subject, in their order. PSS only where it was measured
// or estimated: the RSS that stands in for it elsewhere would beat it.
MarkValues mark_values(const MachineMemory& memory);
MarkValues mark_values(const CategorySample& sample);
MarkValues mark_values(const CgroupSample& sample);
MarkValues mark_values(const ProcessMemory& memory, Source source);

// Of one metric alone.
MarkValues mark_value(SubjectKind kind, Metric metric, std::int64_t kib);

// Whether `value` goes beyond `mark`. A high-water mark of 0 is none.
bool beats(Metric metric, std::int64_t value, std::optional<std::int64_t> mark);

// When a value was seen, since when it may have been reached, and how it is known (absent: that is not told).
struct MarkTime {
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;
  std::optional<SeenBy> by = SeenBy::sample;
};

// A process's VmHWM that its first tick shows was reached since its start.
MarkTime since_start(MarkTime time, std::int64_t start_ms, bool had_tick_before);

struct Mark {
  std::optional<std::int64_t> value;
  MarkTime time;
  bool dirty = false;  // not stored yet
};

// The marks of one subject: of this UTC day, and since the run began.
struct Marks {
  std::array<Mark, 4> day;
  std::array<Mark, 4> ever;
  // Of a process that was born in this run and has lived in one UTC day only: the marks of that day are those of all
  // time, and only they are stored. Most processes never see another.
  bool one_day = false;

  // Those of a sample; `hwm_time` is that of its VmHWM.
  void see(SubjectKind subject, const MarkValues& values, MarkTime time, MarkTime hwm_time);
};

inline constexpr std::int64_t kDayMs = 86'400'000;
inline constexpr std::int64_t kAllTime = -1;  // in the place of a day

std::int64_t day_of(std::int64_t wall_ms);

}  // namespace memoir
