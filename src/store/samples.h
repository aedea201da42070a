#pragma once

// Visits all samples of a range in recording order, which is time order unless the wall clock was stepped. The first
// sample of each subject is clipped to start at from_ms. At a keyframe and after a gap, a new sample starts even
// without a change. A sample that starts at the very end of the recording has no length.

#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

Status visit_samples(Reader& reader, Range range, const VisitSpan<ProcessSample>& visit);
Status visit_samples(Reader& reader, Range range, const VisitSpan<MachineMemory>& visit);
Status visit_samples(Reader& reader, Range range, const VisitSpan<CategorySample>& visit);

// Returns the number of zombies at each tick of the range.
Result<std::vector<StoredZombies>> load_zombies(Reader& reader, Range range);

}  // namespace memoir
