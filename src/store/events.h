#pragma once

// What happened: events of the recorder and of the kernel.

#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// In the order of recording.
Result<std::vector<Event>> load_events(Reader& reader, Range range);

// The victims of the OOM killer by time, as far as the kernel reported them.
Result<std::vector<OomVictim>> load_oom_victims(Reader& reader, Range range);

}  // namespace memoir
