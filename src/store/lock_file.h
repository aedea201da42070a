#pragma once

// One recorder per database: flock on "F.lock", which holds the pid of its owner in text. The kernel drops the lock
// with the process, so that the file may stay.

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Takes the lock of the database at `path`; it is held as long as the Fd. Refused with the owner's pid.
Result<Fd> take_lock(const std::string& path);

// Whether we can look at the lock of the database at `path`: then nobody records into it unless lock_owner() says so.
bool lock_is_visible(const std::string& path);

// Who holds it now; 0 if somebody does who cannot be named.
std::optional<std::int32_t> lock_owner(const std::string& path);

}  // namespace memoir
