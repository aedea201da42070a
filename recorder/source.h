#pragma once

// What memoird records from, as the configuration says.

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "collect/tick_source.h"
#include "config/config.h"
#include "recorder/options.h"
#include "recorder/settings.h"

namespace memoir {

// An error says what is missing, and what to set.
Result<std::unique_ptr<TickSource>> make_source(const RecorderOptions& options, const Config& config, Rules rules,
                                                const Clock& clock);

Result<BootInfo> boot_of(const RecorderOptions& options, const Config& config, const Moment& now);

}  // namespace memoir
