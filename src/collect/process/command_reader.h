#pragma once

// Reads command lines and redacts secrets, on the worker. Sizes are limited per process, per user and per tick,
// whatever the arguments contain; longer text is truncated, with a suffix. Command lines that take long to redact are
// charged to their user's CPU budget (read_budget.h). Thread-safe: a job on a stuck worker may still use it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/file.h"
#include "collect/redact/redactor.h"
#include "collect/worker/read_budget.h"

namespace memoir {

// Suffix of a program's path in place of its command line, which a later tick reads.
inline constexpr const char* kCommandNotRead = " …[cut: not read yet]";

class CommandReader {
 public:
  static constexpr std::size_t kMaxOfUser = 1024 * 1024;  // maximum bytes per tick of one user
  static constexpr std::size_t kMaxOfTick = 4 * 1024 * 1024;

  CommandReader(Redactor redactor, std::size_t max_command_bytes);

  // Refills the byte budgets. `now_us` is on a clock that is never stepped.
  void begin_tick(std::int64_t now_us);

  // Returns the redacted command line in the file `path`. Empty if there is none or access is denied; nullopt if a
  // budget of `uid` or of the tick is exhausted. `again`: an earlier command line of the process is known. Such reads
  // use only half of a budget; the other half is reserved for processes without a command line.
  std::optional<std::string> read(const std::string& path, std::uint32_t uid, bool again, Buffer& buffer);

  // Returns the number of command lines that this tick deferred because of CPU time, by uid.
  std::map<std::uint32_t, std::int64_t> deferred();

 private:
  bool has_budget(std::uint32_t uid, bool again);
  void charge(std::uint32_t uid, std::size_t bytes, std::int64_t cpu_us);

  const Redactor redactor_;
  const std::size_t max_command_bytes_;
  std::mutex mutex_;  // protects the following members
  std::unordered_map<std::uint32_t, std::size_t> used_by_user_;
  std::size_t used_ = 0;
  ReadBudget cpu_;
  std::map<std::uint32_t, std::int64_t> deferred_;
};

}  // namespace memoir
