#include "collect/process/command_reader.h"

#include <utility>

#include "base/clock.h"
#include "proc/cmdline.h"

namespace memoir {

CommandReader::CommandReader(Redactor redactor, std::size_t max_command_bytes)
    : redactor_(std::move(redactor)), max_command_bytes_(max_command_bytes) {}

void CommandReader::begin_tick(std::int64_t now_us) {
  const std::lock_guard lock(mutex_);
  used_by_user_.clear();
  used_ = 0;
  cpu_.begin(now_us);
  deferred_.clear();
}

std::optional<std::string> CommandReader::read(const std::string& path, std::uint32_t uid, bool again, Buffer& buffer) {
  if (!has_budget(uid, again)) return std::nullopt;
  const std::size_t most = max_command_bytes_ + Redactor::kLookAhead;
  const std::int64_t before_us = thread_cpu_us();
  const auto text = read_start(path, most, buffer);
  if (!text) return std::string();
  const std::size_t bytes = text->size();
  std::string command = redactor_.command(parse_cmdline(*text), max_command_bytes_, bytes < most);
  charge(uid, bytes, thread_cpu_us() - before_us);
  return command;
}

std::map<std::uint32_t, std::int64_t> CommandReader::deferred() {
  const std::lock_guard lock(mutex_);
  return deferred_;
}

// Returns whether a command line may be read. The last read may exceed the budget by the cost of one process.
bool CommandReader::has_budget(std::uint32_t uid, bool again) {
  const std::size_t parts = again ? 2 : 1;
  const std::lock_guard lock(mutex_);
  if (!cpu_.allows(uid, false)) {
    ++deferred_[uid];
    return false;
  }
  return used_ < kMaxOfTick / parts && used_by_user_[uid] < kMaxOfUser / parts;
}

void CommandReader::charge(std::uint32_t uid, std::size_t bytes, std::int64_t cpu_us) {
  const std::lock_guard lock(mutex_);
  used_ += bytes;
  used_by_user_[uid] += bytes;
  cpu_.charge(uid, {.cpu_us = cpu_us, .wall_us = cpu_us});
}

}  // namespace memoir
