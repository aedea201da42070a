#include "collect/oom/kernel_log.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"

namespace memoir {
namespace {

// Maximum size of an incomplete line. A record has at most 8 KiB (CONSOLE_EXT_LOG_MAX).
constexpr std::size_t kMaxWaiting = 64 * 1024;

Error may_not(int error, const std::string& path, const std::string& restricted) {
  Error why = errno_error(error, "open", path);
  Buffer buffer;
  const auto setting = read_file(restricted, buffer);
  if (error == EPERM && setting && trim(*setting) != "0") {
    why.message += "; kernel.dmesg_restrict is 1: give memoird CAP_SYSLOG";
  }
  return why;
}

}  // namespace

Result<KernelLog> KernelLog::open(const std::string& path, const std::string& restricted) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!fd) return may_not(errno, path, restricted);
  ::lseek(fd.get(), 0, SEEK_END);  // fails harmlessly for a fifo
  return KernelLog(std::move(fd), path);
}

void KernelLog::hand_out(const Take& take, std::size_t& records, Taken& taken) {
  std::string_view rest = waiting_;
  while (true) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line.starts_with(' ')) continue;  // property of the record's device
    ++records;
    const auto record = parse_log_record(line);
    if (!record) continue;
    const bool lost = std::exchange(overwritten_, false);
    if (lost) taken.lost += next_ != 0 && record->sequence > next_ ? record->sequence - next_ : 1;
    next_ = record->sequence + 1;
    take(*record, lost);
  }
  waiting_.erase(0, waiting_.size() - rest.size());
  if (waiting_.size() > kMaxWaiting) waiting_.clear();
}

Result<KernelLog::Taken> KernelLog::read(const Take& take) {
  Taken taken;
  for (std::size_t records = 0; records < kMaxRecords;) {
    const ssize_t got = ::read(fd_.get(), buffer_.data(), buffer_.size());
    if (got > 0) {
      waiting_.append(buffer_.data(), static_cast<std::size_t>(got));
      hand_out(take, records, taken);
    } else if (got == 0 || errno == EAGAIN) {
      taken.all = true;
      break;
    } else if (errno == EPIPE) {
      overwritten_ = true;
      ++records;  // counted, so that a flood ends the loop
    } else if (errno != EINTR) {
      return errno_error(errno, "read", path_);
    }
  }
  return taken;
}

}  // namespace memoir
