#pragma once

// All that the samples of a range hold, in the order of recording, which is that of time except where the wall clock
// was stepped. The first of each subject is clipped to begin at from_ms. At a keyframe and after a gap one begins even
// if nothing changed; one that begins at the very end of what is recorded has no length.

#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

Status visit_samples(Reader& reader, Range range, const VisitHeld<ProcessSample>& visit);
Status visit_samples(Reader& reader, Range range, const VisitHeld<MachineMemory>& visit);
Status visit_samples(Reader& reader, Range range, const VisitHeld<CategorySample>& visit);

// How many processes were zombies, at each tick of the range.
Result<std::vector<StoredZombies>> load_zombies(Reader& reader, Range range);

}  // namespace memoir
