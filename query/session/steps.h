#pragma once

// Steps between the times of load_state(): ticks, and buckets once the ticks of that time have expired.

#include <cstdint>
#include <optional>

#include "query/state/command.h"

namespace memoir::query {

// Return the time of the next or previous tick or bucket; nullopt if there is none.
Result<std::optional<std::int64_t>> time_after(const Context& context, std::int64_t at_ms);
Result<std::optional<std::int64_t>> time_before(const Context& context, std::int64_t at_ms);

}  // namespace memoir::query
