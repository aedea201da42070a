#include "proc/pid_stat.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::pid_stat(std::string_view text) {
  const auto stat = parse_pid_stat(text);
  if (!stat) return require_good(stat.error(), text);
  require_inside(stat->comm, text);
  require(stat->parent_pid.value_or(0) >= 0 && stat->threads.value_or(0) >= 0, "ids and counts are not negative");
  const int state = stat->state.value_or('x') | 0x20;
  require(state >= 'a' && state <= 'z', "the state is a letter");
}
