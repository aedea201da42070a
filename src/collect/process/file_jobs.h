#pragma once

// Jobs for the BlockingReader: reads of a process that may block on it. A job owns everything that it uses, including
// its results. When it is done(), the results belong to the caller.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "collect/process/command_reader.h"
#include "collect/redact/name_redactor.h"
#include "collect/worker/blocking_reader.h"
#include "model/process.h"
#include "proc/proc_fs.h"

namespace memoir {

// Reads smaps_rollup. One job per process, kept between ticks with its open descriptor.
class RollupJob final : public BlockingJob {
 public:
  RollupJob(std::shared_ptr<const ProcFs> proc, std::int32_t pid, std::uint64_t start_ticks)
      : BlockingJob(CostKind::rollup), proc_(std::move(proc)), pid_(pid), start_ticks_(start_ticks) {}

  // Call it before a run. `keep`: the descriptor may stay open after the run. `reopen`: opens the file again even if a
  // kept descriptor still returns data, which may belong to older memory. `thread`: as in ProcFs::path().
  void prepare(bool keep, bool reopen, std::int32_t thread);
  void run(Buffer& buffer) override;

  bool kept() const { return fd_.valid(); }
  void close() { fd_.reset(); }
  // Returns whether the process runs another program image: the kept descriptor returned no data, but the process has
  // memory.
  bool replaced() const { return stale_ && read(); }
  bool read() const { return outcome_.ok(); }
  const Error& failure() const { return outcome_.error(); }
  // Takes the rollup fields of a successful read, once.
  std::unique_ptr<ProcessMemory> take_memory() { return std::move(memory_); }
  const OddLines& odd() const { return odd_; }

 private:
  Status read_from(const Fd& fd, Buffer& buffer);
  Status open_and_read(Buffer& buffer);

  const std::shared_ptr<const ProcFs> proc_;
  const std::int32_t pid_;
  const std::uint64_t start_ticks_;
  std::int32_t thread_ = 0;
  bool keep_ = false;
  bool reopen_ = false;
  bool stale_ = false;
  Fd fd_;
  Status outcome_ = Done{};
  std::unique_ptr<ProcessMemory> memory_;
  OddLines odd_;
};

// Reads a process's command line, exe, cgroup and settings; without a CommandReader only cgroup and settings.
class IdentityJob final : public BlockingJob {
 public:
  // `thread`: as in ProcFs::path().
  IdentityJob(std::shared_ptr<const ProcFs> proc, std::int32_t pid, std::int32_t thread, std::uint64_t start_ticks,
              std::uint32_t uid, std::shared_ptr<CommandReader> commands, std::shared_ptr<NameRedactor> names,
              bool again)
      : BlockingJob(CostKind::identity),
        proc_(std::move(proc)),
        pid_(pid),
        thread_(thread),
        start_ticks_(start_ticks),
        commands_(std::move(commands)),
        names_(std::move(names)),
        again_(again) {
    set_owner(uid);
  }

  void run(Buffer& buffer) override;

  bool cgroup_only() const { return commands_ == nullptr; }
  // Returns whether all files belonged to the requested process. Otherwise the values below are invalid.
  bool valid() const { return valid_; }
  // The redacted command line; empty if there is none or access is denied; nullopt if it is left for a later tick.
  const std::optional<std::string>& command() const { return command_; }
  // Paths in the kernel's format, with any bytes except secrets; empty if there is none or access is denied.
  const std::string& exe() const { return exe_; }
  const std::string& cwd() const { return cwd_; }
  const std::string& limits() const { return limits_; }  // in the form of ProcessSettings::limits
  std::optional<std::int64_t> oom_score_adj() const { return oom_score_adj_; }
  const std::string& cgroup() const { return cgroup_; }
  const OddLines& odd() const { return odd_; }

 private:
  void read_settings(Buffer& buffer);

  const std::shared_ptr<const ProcFs> proc_;
  const std::int32_t pid_;
  const std::int32_t thread_;
  const std::uint64_t start_ticks_;
  const std::shared_ptr<CommandReader> commands_;
  const std::shared_ptr<NameRedactor> names_;
  const bool again_;  // the command line of its process is already known
  bool valid_ = false;
  std::optional<std::string> command_;
  std::string exe_;
  std::string cwd_;
  std::string limits_;
  std::optional<std::int64_t> oom_score_adj_;
  std::string cgroup_;
  OddLines odd_;
};

// Looks up the name of a user, which may use the network.
class UserJob final : public BlockingJob {
 public:
  explicit UserJob(std::uint32_t uid) : BlockingJob(CostKind::identity), uid_(uid) {}

  void run(Buffer& buffer) override;

  std::uint32_t uid() const { return uid_; }
  const std::string& name() const { return name_; }  // the number if the user has no name

 private:
  const std::uint32_t uid_;
  std::string name_;
};

// Reads the start time from /proc/PID/stat. If it is equal before and after a read by path, the read belongs to that
// process.
Result<std::uint64_t> read_start_ticks(const ProcFs& proc, std::int32_t pid, Buffer& buffer);

}  // namespace memoir
