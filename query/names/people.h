#pragma once

// Who stands behind the numbers that the kernel leaves on memory outside of processes: users and pids.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "query/state/state.h"

namespace memoir::query {

class UserNames {
 public:
  // Of those who had processes then.
  explicit UserNames(const State& state);

  // The number, where it has no name.
  std::string of(std::uint32_t uid) const;

 private:
  std::map<std::uint32_t, std::string> names_;
};

// The process that had the pid at a time, or had it last before; absent where none is known, or where it had ended
// before `alive_ms`.
Result<std::optional<StoredProcess>> process_of_pid(const Context& context, std::int32_t pid, std::int64_t at_ms,
                                                    std::optional<std::int64_t> alive_ms = std::nullopt);

// "postgres (1412)"; of an unknown one "1412"; of pid 0 nothing.
std::string who(std::int32_t pid, const std::optional<StoredProcess>& process);

}  // namespace memoir::query
