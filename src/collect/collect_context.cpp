#include "collect/collect_context.h"

#include <fmt/format.h>

namespace memoir {

void CollectContext::note_malformed(const Error& error) {
  if (error.kind == ErrorKind::malformed) tick.odd_lines.note(error);
}

std::string CollectContext::count_malformed() {
  tick.counts.malformed = tick.odd_lines.count();
  if (tick.odd_lines.kinds().empty()) return {};
  const OddLine& first = tick.odd_lines.kinds().front();
  return fmt::format("{}: {}", first.file, first.problem);
}

void CollectContext::note_blocked(std::uint32_t uid, std::int64_t processes) {
  tick.counts.blocked += processes;
  blocked_users[uid] += processes;
}

void CollectContext::note_blocked(const std::string& what) {
  ++tick.counts.blocked;
  if (blocked.empty()) blocked = what + ": a read did not finish in time";
}

}  // namespace memoir
