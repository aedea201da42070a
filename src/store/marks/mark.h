#pragma once

// A high-water mark, or a low-water mark of MemAvailable: its value, when it was reached and how that is known. Pure.

#include <cstdint>

#include "model/extremes.h"
#include "model/metric.h"
#include "model/subject.h"

namespace memoir {

inline constexpr std::int64_t kAllTime = -1;  // day_ms of a mark of all time

// Returns the start of the UTC day.
std::int64_t day_of(std::int64_t wall_ms);

struct MarkTime {
  std::int64_t at_ms = 0;      // when the value was observed
  std::int64_t before_ms = 0;  // reached after this time: the previous tick, or at_ms if there was none
  Origin by = Origin::sample;
};

// Returns the time of a VmHWM in a process's first tick, which was reached after the process started.
MarkTime since_start(MarkTime time, std::int64_t start_ms, bool had_tick_before);

struct Mark {
  std::int64_t day_ms = kAllTime;
  SubjectKind subject = SubjectKind::machine;
  std::int64_t subject_id = 0;
  Metric metric = Metric::used;
  std::int64_t value_kib = 0;
  MarkTime time;
};

}  // namespace memoir
