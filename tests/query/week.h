#pragma once

// Eight days and a morning of a small server, written by the store's own writer: a daily load, a growing database, and
// a backup at night. On the last complete day, 2026-11-26, an application uses up all memory, is OOM-killed and
// restarted, and the recorder is stopped for 50 minutes.

#include "query/history.h"

namespace memoir::test {

inline constexpr std::int64_t kWeekDayMs = 86'400'000;
inline constexpr std::int64_t kWeekLastDay = History::kStart + 7 * kWeekDayMs;  // midnight UTC

// Recorded once for all tests of a program, and rolled up as by a recorder.
History& recorded_week();

// The same week as raw rows only.
History& raw_week();

}  // namespace memoir::test
