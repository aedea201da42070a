#pragma once

// The ledgers of what processes map, at one tick.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// The ledgers that hold at a tick, sorted by process row; of all processes, or of one.
Result<std::vector<LedgerAt>> load_ledgers(Reader& reader, std::int64_t tick_id,
                                           std::optional<std::int64_t> process_id = std::nullopt);

// Whether the file has any.
Result<bool> has_ledgers(Reader& reader);

// The first mapping of each label that ends in kDeletedMark, in ledgers up to a tick, sorted by time.
Result<std::vector<FirstMapping>> load_first_mappings(Reader& reader, std::int64_t tick_id);

}  // namespace memoir
