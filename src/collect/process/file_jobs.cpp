#include "collect/process/file_jobs.h"

#include <array>
#include <pwd.h>

#include "collect/process/text_budget.h"
#include "model/mapping.h"
#include "proc/cgroup.h"
#include "proc/limits.h"
#include "proc/pid_stat.h"
#include "proc/smaps_rollup.h"

namespace memoir {

Result<std::uint64_t> read_start_ticks(const ProcFs& proc, std::int32_t pid, Buffer& buffer) {
  return TRY(read_pid_stat(proc, pid, buffer)).start_ticks;
}

void RollupJob::prepare(bool keep, bool reopen, std::int32_t thread) {
  keep_ = keep;
  thread_ = thread;
  reopen_ = reopen;
  stale_ = false;
  // This is the outcome if the run does not complete.
  outcome_ = Error{ErrorKind::io, "smaps_rollup: not read"};
}

void RollupJob::run(Buffer& buffer) {
  if (fd_.valid()) {
    outcome_ = read_from(fd_, buffer);
    // ESRCH or an empty text means that the memory for which the file was opened is gone, by an exit or exec.
    stale_ = !read() && failure().kind == ErrorKind::not_found;
    if (read() && !reopen_) return;
    fd_.reset();
    if (!read() && !stale_) return;
  }
  outcome_ = open_and_read(buffer);
}

Status RollupJob::read_from(const Fd& fd, Buffer& buffer) {
  const auto text = TRY(read_all(fd, buffer, "smaps_rollup"));
  memory_ = std::make_unique<ProcessMemory>();
  odd_ = {};
  return parse_smaps_rollup(text, *memory_, &odd_);
}

Status RollupJob::open_and_read(Buffer& buffer) {
  Fd opened = TRY(proc_->open(pid_, PidFile::smaps_rollup, thread_));
  TRY(read_from(opened, buffer));
  // After an empty read (replaced()), the caller reads the status again, and so finds the process of the new text.
  if (!stale_) {
    const auto start_ticks = read_start_ticks(*proc_, pid_, buffer);
    if (!start_ticks || *start_ticks != start_ticks_) return Error{ErrorKind::not_found, "the process has exited"};
  }
  if (keep_) fd_ = std::move(opened);
  return Done{};
}

void IdentityJob::run(Buffer& buffer) {
  const auto groups = read_file(proc_->path(pid_, PidFile::cgroup, thread_), buffer);
  const auto group = parse_cgroup(groups ? *groups : std::string_view(), &odd_);
  if (!group && group.error().kind == ErrorKind::malformed) odd_.note(group.error());
  cgroup_ = names_->path(bounded_cgroup(group ? *group : std::string_view()));
  if (!cgroup_only()) {
    command_ = commands_->read(proc_->path(pid_, PidFile::cmdline, thread_), owner(), again_, buffer);
    const auto exe = read_link(proc_->path(pid_, PidFile::exe, thread_));
    if (exe) exe_ = *exe;
    // If an upgrade has replaced the file, the kernel adds a suffix. The program is the same.
    if (exe_.ends_with(kDeletedMark)) exe_.resize(exe_.size() - kDeletedMark.size());
    exe_ = names_->path(bounded_path(exe_));
  }
  read_settings(buffer);
  const auto start_ticks = read_start_ticks(*proc_, pid_, buffer);
  valid_ = start_ticks && *start_ticks == start_ticks_;
}

// Reads the settings. Access to each of the files may be denied.
void IdentityJob::read_settings(Buffer& buffer) {
  const auto cwd = read_link(proc_->path(pid_, PidFile::cwd, thread_));
  if (cwd) cwd_ = names_->path(bounded_path(*cwd));
  const auto parsed = [&](PidFile file, const auto& parse) {
    const auto text = read_file(proc_->path(pid_, file, thread_), buffer);
    auto value = text ? parse(*text) : decltype(parse(*text))(text.error());
    if (!value && value.error().kind == ErrorKind::malformed) odd_.note(value.error());
    return value;
  };
  const auto limits = parsed(PidFile::limits, [this](std::string_view text) { return parse_limits(text, &odd_); });
  if (limits) limits_ = *limits;
  const auto adjust = parsed(PidFile::oom_score_adj, parse_oom_score_adj);
  if (adjust) oom_score_adj_ = *adjust;
}

void UserJob::run(Buffer& /*buffer*/) {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known = ::getpwuid_r(uid_, &entry, text.data(), text.size(), &found) == 0 && found != nullptr;
  name_ = known ? entry.pw_name : std::to_string(uid_);
}

}  // namespace memoir
