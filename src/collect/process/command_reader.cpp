#include "collect/process/command_reader.h"

#include <utility>

#include "proc/cmdline.h"

namespace memoir {

CommandReader::CommandReader(Redactor redactor, std::size_t max_command_bytes)
    : redactor_(std::move(redactor)), max_command_bytes_(max_command_bytes) {}

void CommandReader::begin_tick() {
  const std::lock_guard lock(mutex_);
  used_by_user_.clear();
  used_ = 0;
}

std::optional<std::string> CommandReader::read(const ProcFs& proc, std::int32_t pid, std::uint32_t uid, bool again,
                                               Buffer& buffer) {
  if (!has_budget(uid, again)) return std::nullopt;
  const std::size_t most = max_command_bytes_ + Redactor::kLookAhead;
  const auto text = read_start(proc.path(pid, PidFile::cmdline), most, buffer);
  if (!text) return std::string();
  charge(uid, text->size());
  return redactor_.command(parse_cmdline(*text), max_command_bytes_, text->size() < most);
}

// The last one may overdraw it, by what is read of one process.
bool CommandReader::has_budget(std::uint32_t uid, bool again) {
  const std::size_t parts = again ? 2 : 1;
  const std::lock_guard lock(mutex_);
  return used_ < kMostOfTick / parts && used_by_user_[uid] < kMostOfUser / parts;
}

void CommandReader::charge(std::uint32_t uid, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ += bytes;
  used_by_user_[uid] += bytes;
}

}  // namespace memoir
