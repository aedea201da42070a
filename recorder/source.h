#pragma once

// Makes the configured source of the recorder's ticks.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "collect/tick_source.h"
#include "config/config.h"
#include "recorder/options.h"
#include "recorder/settings.h"

namespace memoir {

// An error names the missing part, and the setting to change.
Result<std::unique_ptr<TickSource>> make_source(const RecorderOptions& options, const Config& config, Rules rules,
                                                const Clock& clock);

// Sets `lack` to a sentence if the boot id is unreadable and the boot time replaces it.
Result<BootInfo> boot_of(const RecorderOptions& options, const Config& config, const Moment& now, std::string& lack);

}  // namespace memoir
