#pragma once

// Maps the uids and pids of segments and files to names.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "query/state/state.h"

namespace memoir::query {

class UserNames {
 public:
  // Takes the names of users with processes at that time.
  explicit UserNames(const State& state);

  // Returns the number if there is no name.
  std::string of(std::uint32_t uid) const;

 private:
  std::map<std::uint32_t, std::string> names_;
};

// Returns the process with the pid at a time, or the last one before; nullopt if none is known, or if it had exited
// before `alive_ms`.
Result<std::optional<StoredProcess>> process_of_pid(const Context& context, std::int32_t pid, std::int64_t at_ms,
                                                    std::optional<std::int64_t> alive_ms = std::nullopt);

// Returns when the processes with a pid ran: "process 812 did not run at that time, but from T to T (worker.py)".
// Returns nullopt if the file has none.
std::optional<std::string> when_it_ran(const Context& context, std::int32_t pid);

// "postgres (1412)"; "1412" if unknown; empty for pid 0.
std::string process_label(std::int32_t pid, const std::optional<StoredProcess>& process);

}  // namespace memoir::query
