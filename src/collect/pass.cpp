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

void Pass::note_blocked(std::uint32_t uid) {
  ++tick.counts.blocked;
  ++blocked_users[uid];
}

void Pass::note_blocked(const std::string& what) {
  ++tick.counts.blocked;
  if (blocked.empty()) blocked = what + ": a read did not come back in time";
}

}  // namespace memoir
