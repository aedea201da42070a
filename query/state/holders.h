#pragma once

// Who held most at one time, and which groups: what a whole state (query/state/state.h) tells too, at a fraction of
// its cost.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

struct Holders {
  std::vector<Holder> largest;  // by PSS, the largest first
  bool means = false;           // over the bucket that holds that time
  // All that was held then, by group: each adds up to the whole. By PSS, the largest first.
  std::vector<GroupState> identities = {};
  std::vector<GroupState> categories = {};
};

// At the last recorded time up to `at_ms`, of its tick or its bucket; or of the tier's bucket that holds it. `most` of
// the processes that `takes` takes.
Result<Holders> largest_holders(const Context& context, std::int64_t at_ms, std::optional<Tier> in_bucket_of,
                                std::size_t most, const std::function<bool(const StoredProcess&)>& takes);

}  // namespace memoir::query
