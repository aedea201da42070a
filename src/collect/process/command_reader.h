#pragma once

// Reads command lines and takes the secrets out of them, on the worker, and bounded: of a process, of its user's
// processes and in a tick only so many bytes are looked at, whatever a process writes over its arguments. What is
// beyond is cut, with a mark. Safe from several threads: a worker that was stuck may still hold a job with it.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "collect/redact/redactor.h"
#include "proc/proc_fs.h"

namespace memoir {

// Stands after the name of an executable whose command line a later tick reads.
inline constexpr const char* kCommandNotRead = " …[cut: not read yet]";

class CommandReader {
 public:
  static constexpr std::size_t kMostOfUser = 1024 * 1024;  // in a tick
  static constexpr std::size_t kMostOfTick = 4 * 1024 * 1024;

  CommandReader(Redactor redactor, std::size_t max_command_bytes);

  // The budgets of users and tick are full again.
  void begin_tick();

  // The command line, redacted; empty if there is none or it is denied. Nothing: the budget of `uid` or of the tick is
  // used up. `again`: an earlier one is known; the second half of a budget is for those of which none is.
  std::optional<std::string> read(const ProcFs& proc, std::int32_t pid, std::uint32_t uid, bool again, Buffer& buffer);

 private:
  bool has_budget(std::uint32_t uid, bool again);
  void charge(std::uint32_t uid, std::size_t bytes);

  const Redactor redactor_;
  const std::size_t max_command_bytes_;
  std::mutex mutex_;  // of what follows
  std::unordered_map<std::uint32_t, std::size_t> used_by_user_;
  std::size_t used_ = 0;
};

}  // namespace memoir
