#pragma once

// Restarts of programs as events.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "model/tick.h"
#include "store/reader.h"

namespace memoir::query {

// Maximum length of the range: a longer one has too many processes to read for each answer.
inline constexpr std::int64_t kMaxRestartsMs = 2 * kDayLengthMs;

// Finds the programs that may have restarted: one of their processes ran long enough and exited. Identities with the
// same name are one program, which has a row for each of its executables.
class RestartCandidates {
 public:
  void add(const StoredLife& life);

  // Returns the names of the programs by the ids of their added identities.
  Result<std::unordered_map<std::int64_t, std::string>> load(Reader& reader) const;

 private:
  std::unordered_set<std::int64_t> identities_;
  std::unordered_set<std::int64_t> long_lived_;
};

// Returns the restarts by find_restarts() whose new process started in the range, in order.
Result<std::vector<Event>> load_restart_events(Reader& reader, Range range);

}  // namespace memoir::query
