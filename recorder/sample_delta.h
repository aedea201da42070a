#pragma once

// The samples of one tick as the difference to those of the tick before it, for ticks that wait: most processes do not
// move from one tick to the next. Pure. Samples are sorted by key, as a Tick's are.

#include <cstddef>
#include <vector>

#include "model/tick.h"

namespace memoir {

using Samples = std::vector<ProcessSample>;

struct SampleDelta {
  Samples changed{};               // new, or not as before
  std::vector<ProcessKey> held{};  // as before, but held now
  std::vector<ProcessKey> gone{};

  std::size_t bytes() const;
};

SampleDelta difference(const Samples& before, const Samples& now);

// `now` again, exactly.
Samples applied(const Samples& before, const SampleDelta& delta);

}  // namespace memoir
