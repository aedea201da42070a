#pragma once

// What the parts of peaks_from_steps share: where they read, and how a maximum becomes a row.

#include <string>
#include <vector>

#include "query/answer/state.h"
#include "query/commands/peaks/peaks.h"

namespace memoir::query {

struct PeakSource {
  Reader& reader;
  Range range;
  Tier tier = {};
};

// Of a bucket that does not tell when, the maximum was reached somewhere within it.
Peak peak_of(const Summary& summary, const PeakSource& source, std::int64_t subject = 0);
PeakRow row_of(std::string name, const Summary& summary, const PeakSource& source);

// Whether the groups have rollups of their own.
bool reads_whole_groups(const PeakQuestion& question);

// The highest sum of a group that has no rollups of its own is not known from them: its highest mean stands for it.
Result<std::vector<PeakRow>> group_rows(const PeakSource& source, const PeakQuestion& question);

// The marks that the store keeps, short-lived processes included, and the maxima of the rollups beside them.
Result<std::vector<PeakRow>> process_rows_of_rollups(const PeakSource& source, const PeakQuestion& question);

// What each process of the rows held when it was seen last in the range. `now` is the state at its end; null: not at
// hand.
Status add_last_sights(const Context& context, const PeakQuestion& question, const State* now, Peaks& peaks);

// The highest VmHWM of one process of each identity.
Result<std::vector<PeakRow>> identity_marks(const PeakSource& source);

// Tells when in its bucket a peak was reached, and after which tick, where that is a mark of the store.
Status refine(const PeakSource& source, const PeakQuestion& question, Peaks& peaks);

}  // namespace memoir::query
