#include "proc/pid_stat.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// Takes fields from the front of a line.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  // Returns nullopt if the field is missing or does not fit into an Int.
  template <typename Int>
  std::optional<Int> next() {
    return parse_number<Int>(cut_word(rest_));
  }
  void skip(int count) {
    while (count-- > 0) cut_word(rest_);
  }
  // Returns whether more fields follow, which shows that the last one was complete.
  bool more() const { return !rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<std::int32_t> natural(std::optional<std::int32_t> number) {
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

Result<PidStat> parse_pid_stat(std::string_view text, OddLines* odd) {
  if (text.empty()) return Error{ErrorKind::not_found, "stat: empty, the process has exited"};
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return bad_line("stat", text);
  }
  PidStat stat;
  stat.comm = text.substr(open + 2, close - open - 2);
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = cut_word(rest);
  if (is_state(state)) stat.state = state.front();
  Fields fields(rest);
  stat.parent_pid = natural(fields.next<std::int32_t>());  // field 4
  fields.skip(4);                                          // pgrp, session, tty_nr, tpgid
  const auto flags = fields.next<std::uint32_t>();         // field 9
  fields.skip(10);  // minflt, cminflt, majflt, cmajflt, utime, stime, cutime, cstime, priority, nice
  stat.threads = natural(fields.next<std::int32_t>());
  fields.skip(1);                                         // itrealvalue
  const auto start_ticks = fields.next<std::uint64_t>();  // field 22
  if (!start_ticks || !fields.more()) return bad_line("stat", text);
  stat.start_ticks = *start_ticks;
  stat.flags = flags.value_or(0);
  const bool whole = stat.state && stat.parent_pid && flags && stat.threads;
  if (!whole && odd != nullptr) odd->note("stat", "", text);
  return stat;
}

Result<PidStat> read_pid_stat(const ProcFs& proc, std::int32_t pid, Buffer& buffer, OddLines* odd) {
  return parse_pid_stat(TRY(read_file(proc.path(pid, PidFile::stat), buffer)), odd);
}

}  // namespace memoir
