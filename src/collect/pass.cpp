#include "collect/pass.h"

#include <fmt/format.h>

namespace memoir {

void Pass::note_malformed(const Error& error) {
  ++tick.counts.malformed;
  if (malformed.empty()) malformed = error.message;
}

void Pass::note_malformed(std::int32_t pid, const Error& error) {
  ++tick.counts.malformed;
  if (malformed.empty()) malformed = fmt::format("process {}: {}", pid, error.message);
}

void Pass::note_blocked(std::int32_t pid) {
  ++tick.counts.blocked;
  if (blocked.empty()) blocked = fmt::format("process {}: a read did not come back in time", pid);
}

}  // namespace memoir
