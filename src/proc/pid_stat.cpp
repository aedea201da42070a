#include "proc/pid_stat.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// Takes numbers off a line of fields, and remembers when one was not there or too large.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  template <typename Int>
  Int next() {
    const auto number = parse_number<Int>(cut_word(rest_));
    if (!number) good_ = false;
    return number.value_or(Int{});
  }
  void skip(int count) {
    while (count-- > 0) cut_word(rest_);
  }
  // All fields asked for were there, and more follow, so that the last one is whole.
  bool good() const { return good_ && !rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

Result<PidStat> parse_pid_stat(std::string_view text) {
  if (text.empty()) return Error{ErrorKind::gone, "stat: empty, the process is gone"};
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return bad_line("stat", text);
  }
  const auto pid = parse_number<std::int32_t>(text.substr(0, open));
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = cut_word(rest);
  if (!pid || *pid <= 0 || !is_state(state)) return bad_line("stat", text);

  PidStat stat;
  stat.pid = *pid;
  stat.comm = text.substr(open + 2, close - open - 2);
  stat.state = state.front();
  Fields fields(rest);
  stat.parent_pid = fields.next<std::int32_t>();  // field 4
  fields.skip(4);                                 // pgrp, session, tty_nr, tpgid
  stat.flags = fields.next<std::uint32_t>();      // 9
  stat.minor_faults = fields.next<std::uint64_t>();
  fields.skip(1);  // cminflt
  stat.major_faults = fields.next<std::uint64_t>();
  fields.skip(7);  // cmajflt, utime, stime, cutime, cstime, priority, nice
  stat.threads = fields.next<std::int32_t>();
  fields.skip(1);                                   // itrealvalue
  stat.start_ticks = fields.next<std::uint64_t>();  // 22
  if (!fields.good() || stat.parent_pid < 0 || stat.threads < 0) return bad_line("stat", text);
  return stat;
}

Result<PidStat> read_pid_stat(const ProcFs& proc, std::int32_t pid, Buffer& buffer) {
  return parse_pid_stat(TRY(read_file(proc.path(pid, PidFile::stat), buffer)));
}

}  // namespace memoir
