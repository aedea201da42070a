#include "collect/process/identifier.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace memoir {

Identifier::Identifier(Categoriser categoriser, Redactor redactor, const CollectorOptions& options)
    : options_(options),
      names_(options.store_bytes),
      categoriser_(std::move(categoriser)),
      commands_(std::make_shared<CommandReader>(std::move(redactor), options.max_command_bytes)) {}

void Identifier::set_rules(Categoriser categoriser, Redactor redactor) {
  categoriser_ = std::move(categoriser);
  commands_ = std::make_shared<CommandReader>(std::move(redactor), options_.max_command_bytes);
  users_.clear();
}

ProcessInfo Identifier::describe(const ProcessEntry& entry) const {
  ProcessInfo info = entry.info;
  info.uid = entry.uid;
  info.user = user_name(entry.uid);
  const std::string comm = to_utf8(entry.name);
  if (info.command.empty()) info.command = '[' + comm + ']';
  info.comm = comm;
  if (entry.identity != nullptr && entry.identity->done() && entry.identity->valid()) {
    const IdentityJob& read = *entry.identity;
    info.cgroup = to_utf8(read.cgroup());
    if (!read.cgroup_only()) {
      info.exe = to_utf8(read.exe());
      info.cwd = to_utf8(read.cwd());
      const bool same_program = !entry.fresh && !entry.execed && info.exe == entry.info.exe;
      if (read.command()) {
        info.command = *read.command();
      } else if (!same_program) {
        info.command = fmt::format("{}{}", info.exe.empty() ? comm : info.exe, kCommandNotRead);
      }
      if (info.command.empty()) info.command = '[' + comm + ']';
    }
  }
  info.category = categoriser_.category(info);
  return info;
}

void Identifier::begin(const ProcessEntry& entry, const Moment& now, ProcessInfo& info) const {
  info.key = ProcessKey{.pid = entry.pid, .start_ticks = entry.start_ticks, .exec_count = 0};
  const auto ticks = static_cast<std::int64_t>(entry.start_ticks);
  const std::int64_t hz = options_.ticks_per_second;
  info.start_ms = now.wall_ms - now.boot_ms + ticks / hz * 1000 + ticks % hz * 1000 / hz;
  info.parent_pid = entry.sample.parent_pid;
  info.key.exec_count = seeds_.exec_count(info);
}

std::string Identifier::user_name(std::uint32_t uid) const {
  const auto user = users_.find(uid);
  return user != users_.end() ? user->second : std::to_string(uid);
}

std::shared_ptr<UserJob> Identifier::ask_user(std::uint32_t uid) {
  if (knows_user(uid)) return nullptr;
  // One question at a time may be stuck: the next would wait for the same server.
  const bool busy =
      std::any_of(asked_.begin(), asked_.end(), [&](const auto& job) { return job->held() || job->uid() == uid; });
  if (busy) return nullptr;
  return asked_.emplace_back(std::make_shared<UserJob>(uid));
}

void Identifier::take_users() {
  std::erase_if(asked_, [&](const std::shared_ptr<UserJob>& job) {
    if (job->held()) return false;
    if (job->done()) users_[job->uid()] = job->name();
    return true;
  });
}

}  // namespace memoir
