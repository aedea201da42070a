#pragma once

// The mapping summaries of processes at one tick.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Returns the valid summaries at a tick, of all processes or of one, sorted by process row.
Result<std::vector<MappingsAt>> load_summaries(Reader& reader, std::int64_t tick_id,
                                               std::optional<std::int64_t> process_id = std::nullopt);

// Returns whether the file has any summaries.
Result<bool> has_summaries(Reader& reader);

// Returns the first mapping of each label that ends in kDeletedMark, from summaries up to a tick, sorted by time.
Result<std::vector<FirstMapping>> load_first_mappings(Reader& reader, std::int64_t tick_id);

}  // namespace memoir
