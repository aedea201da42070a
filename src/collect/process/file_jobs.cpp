#include "collect/process/file_jobs.h"

#include <array>
#include <pwd.h>

#include "proc/cgroup.h"
#include "proc/pid_stat.h"
#include "proc/smaps_rollup.h"

namespace memoir {

Result<std::uint64_t> read_start_ticks(const ProcFs& proc, std::int32_t pid, Buffer& buffer) {
  return TRY(read_pid_stat(proc, pid, buffer)).start_ticks;
}

void RollupJob::prepare(bool keep, bool reopen) {
  keep_ = keep;
  reopen_ = reopen;
  stale_ = false;
  // What holds if the run does not come to its end.
  outcome_ = Error{ErrorKind::io, "smaps_rollup: not read"};
}

void RollupJob::run(Buffer& buffer) {
  if (fd_.valid()) {
    outcome_ = read_from(fd_, buffer);
    // ESRCH, or nothing at all: the memory that it was opened on is gone, by an exit or by an exec.
    stale_ = !read() && failure().kind == ErrorKind::gone;
    if (read() && !reopen_) return;
    fd_.reset();
    if (!read() && !stale_) return;
  }
  outcome_ = open_and_read(buffer);
}

Status RollupJob::read_from(const Fd& fd, Buffer& buffer) {
  const auto text = TRY(read_all(fd, buffer, "smaps_rollup"));
  memory_ = std::make_unique<ProcessMemory>();
  return parse_smaps_rollup(text, *memory_);
}

Status RollupJob::open_and_read(Buffer& buffer) {
  Fd opened = TRY(proc_->open(pid_, PidFile::smaps_rollup));
  TRY(read_from(opened, buffer));
  // Of one that fell silent the status is read again, which says whose it is (replaced()).
  if (!stale_) {
    const auto start_ticks = read_start_ticks(*proc_, pid_, buffer);
    if (!start_ticks || *start_ticks != start_ticks_) return Error{ErrorKind::gone, "the process is gone"};
  }
  if (keep_) fd_ = std::move(opened);
  return Done{};
}

void IdentityJob::run(Buffer& buffer) {
  const auto groups = read_file(proc_->path(pid_, PidFile::cgroup), buffer);
  const auto group = parse_cgroup(groups ? *groups : std::string_view());
  cgroup_ = group ? *group : std::string_view();
  if (!cgroup_only()) {
    command_ = commands_->read(*proc_, pid_, owner(), again_, buffer);
    const auto exe = read_link(proc_->path(pid_, PidFile::exe));
    if (exe) exe_ = *exe;
    const auto cwd = read_link(proc_->path(pid_, PidFile::cwd));
    if (cwd) cwd_ = *cwd;
  }
  const auto start_ticks = read_start_ticks(*proc_, pid_, buffer);
  valid_ = start_ticks && *start_ticks == start_ticks_;
}

void UserJob::run(Buffer& /*buffer*/) {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known = ::getpwuid_r(uid_, &entry, text.data(), text.size(), &found) == 0 && found != nullptr;
  name_ = known ? entry.pw_name : std::to_string(uid_);
}

}  // namespace memoir
