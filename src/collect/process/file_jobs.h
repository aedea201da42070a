#pragma once

// The reads of a process that may block on it, as jobs for the BlockingReader. A job holds all that it touches, results
// included; they are the caller's again when it is done().

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "collect/process/command_reader.h"
#include "collect/worker/blocking_reader.h"
#include "model/process.h"
#include "proc/proc_fs.h"

namespace memoir {

// smaps_rollup. One job per process, kept between ticks with its open descriptor.
class RollupJob final : public BlockingJob {
 public:
  RollupJob(std::shared_ptr<const ProcFs> proc, std::int32_t pid, std::uint64_t start_ticks)
      : BlockingJob(CostKind::rollup), proc_(std::move(proc)), pid_(pid), start_ticks_(start_ticks) {}

  // Before a run: whether the descriptor may be kept after it, and whether a kept one must be opened again even if it
  // still has something to say, for that may be of another memory than the process has now.
  void prepare(bool keep, bool reopen);
  void run(Buffer& buffer) override;

  bool kept() const { return fd_.valid(); }
  void close() { fd_.reset(); }
  // The kept descriptor had nothing to say any more, but the process has memory: it runs another program image.
  bool replaced() const { return stale_ && read(); }
  bool read() const { return outcome_.ok(); }
  const Error& failure() const { return outcome_.error(); }
  // Its rollup fields, if read(). Once: of many processes few are read in a tick.
  std::unique_ptr<ProcessMemory> take_memory() { return std::move(memory_); }

 private:
  Status read_from(const Fd& fd, Buffer& buffer);
  Status open_and_read(Buffer& buffer);

  const std::shared_ptr<const ProcFs> proc_;
  const std::int32_t pid_;
  const std::uint64_t start_ticks_;
  bool keep_ = false;
  bool reopen_ = false;
  bool stale_ = false;
  Fd fd_;
  Status outcome_ = Done{};
  std::unique_ptr<ProcessMemory> memory_;
};

// What a process is: its command line, exe, cwd, cgroup; or, without a CommandReader, only its cgroup.
class IdentityJob final : public BlockingJob {
 public:
  IdentityJob(std::shared_ptr<const ProcFs> proc, std::int32_t pid, std::uint64_t start_ticks, std::uint32_t uid,
              std::shared_ptr<CommandReader> commands, bool again)
      : BlockingJob(CostKind::identity),
        proc_(std::move(proc)),
        pid_(pid),
        start_ticks_(start_ticks),
        commands_(std::move(commands)),
        again_(again) {
    set_owner(uid);
  }

  void run(Buffer& buffer) override;

  bool cgroup_only() const { return commands_ == nullptr; }
  // Every file belonged to the process that was asked for; else nothing below holds.
  bool valid() const { return valid_; }
  // Redacted; empty where there is none or it is denied; nothing where it is left for a later tick.
  const std::optional<std::string>& command() const { return command_; }
  // As the kernel gives them, any bytes; empty where there is none or it is denied.
  const std::string& exe() const { return exe_; }
  const std::string& cwd() const { return cwd_; }
  const std::string& cgroup() const { return cgroup_; }

 private:
  const std::shared_ptr<const ProcFs> proc_;
  const std::int32_t pid_;
  const std::uint64_t start_ticks_;
  const std::shared_ptr<CommandReader> commands_;
  const bool again_;  // its command line is known from before
  bool valid_ = false;
  std::optional<std::string> command_;
  std::string exe_;
  std::string cwd_;
  std::string cgroup_;
};

// The name of a user, which may come over the network.
class UserJob final : public BlockingJob {
 public:
  explicit UserJob(std::uint32_t uid) : BlockingJob(CostKind::identity), uid_(uid) {}

  void run(Buffer& buffer) override;

  std::uint32_t uid() const { return uid_; }
  const std::string& name() const { return name_; }  // the number, where it has none

 private:
  const std::uint32_t uid_;
  std::string name_;
};

// The start time in /proc/PID/stat. Two reads by path belong to the same process if it is the same before and after.
Result<std::uint64_t> read_start_ticks(const ProcFs& proc, std::int32_t pid, Buffer& buffer);

}  // namespace memoir
