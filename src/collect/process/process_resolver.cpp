#include "collect/process/process_resolver.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace memoir {

ProcessResolver::ProcessResolver(Categoriser categoriser, Redactor redactor, const CollectorOptions& options)
    : options_(options),
      names_(options.store_bytes),
      categoriser_(std::move(categoriser)),
      commands_(std::make_shared<CommandReader>(redactor, options.max_command_bytes)),
      name_redactor_(std::make_shared<NameRedactor>(std::move(redactor))) {}

void ProcessResolver::set_rules(Categoriser categoriser, Redactor redactor) {
  categoriser_ = std::move(categoriser);
  commands_ = std::make_shared<CommandReader>(redactor, options_.max_command_bytes);
  name_redactor_ = std::make_shared<NameRedactor>(std::move(redactor));
  users_.clear();
}

ProcessInfo ProcessResolver::describe(const ProcessEntry& entry) const {
  ProcessInfo info = entry.info;
  info.uid = entry.uid;
  info.user = user_name(entry.uid);
  const std::string comm = to_utf8(entry.name);
  if (info.command.empty()) info.command = '[' + comm + ']';
  info.comm = comm;
  if (entry.identity != nullptr && entry.identity->done() && entry.identity->valid()) {
    const IdentityJob& read = *entry.identity;
    info.cgroup = escape_bytes(read.cgroup());
    // A zombie no longer has these, so known values stay.
    if (!read.cwd().empty()) info.settings.cwd = to_utf8(read.cwd());
    if (!read.limits().empty()) info.settings.limits = read.limits();
    if (read.oom_score_adj()) info.settings.oom_score_adj = read.oom_score_adj();
    if (!read.cgroup_only()) {
      info.exe = to_utf8(read.exe());
      if (entry.fresh || entry.execed || info.cwd.empty()) info.cwd = to_utf8(read.cwd());
      if (read.command()) {
        info.command = *read.command();
      } else if (!keeps_program(entry)) {
        info.command = fmt::format("{}{}", info.exe.empty() ? comm : info.exe, kCommandNotRead);
      }
      if (info.command.empty()) info.command = '[' + comm + ']';
    }
  }
  const CategoryMatch& match = categoriser_.match(info);
  info.category = match.category;
  info.settings.category_rule = match.rule;
  return info;
}

bool ProcessResolver::keeps_program(const ProcessEntry& entry) {
  return !entry.fresh && !entry.execed && to_utf8(entry.identity->exe()) == entry.info.exe;
}

void ProcessResolver::begin(const ProcessEntry& entry, const Moment& now, ProcessInfo& info) const {
  info.key = ProcessKey{.pid = entry.pid, .start_ticks = entry.start_ticks, .exec_count = 0};
  const auto ticks = static_cast<std::int64_t>(entry.start_ticks);
  const std::int64_t hz = options_.ticks_per_second;
  info.start_ms = now.wall_ms - now.boot_ms + ticks / hz * 1000 + ticks % hz * 1000 / hz;
  info.parent_pid = entry.sample.parent_pid;
  info.key.exec_count = seeds_.exec_count(info);
}

std::string ProcessResolver::user_name(std::uint32_t uid) const {
  if (uid == kUnknownUid) return "unknown";
  const auto user = users_.find(uid);
  return user != users_.end() ? user->second : std::to_string(uid);
}

std::shared_ptr<UserJob> ProcessResolver::ask_user(std::uint32_t uid) {
  if (knows_user(uid)) return nullptr;
  // Only one request runs at a time: if it is stuck, the next one would wait for the same server.
  const bool busy =
      std::any_of(asked_.begin(), asked_.end(), [&](const auto& job) { return job->is_stuck() || job->uid() == uid; });
  if (busy) return nullptr;
  return asked_.emplace_back(std::make_shared<UserJob>(uid));
}

void ProcessResolver::take_users() {
  std::erase_if(asked_, [&](const std::shared_ptr<UserJob>& job) {
    if (job->is_stuck()) return false;
    if (job->done()) users_[job->uid()] = job->name();
    return true;
  });
}

}  // namespace memoir
