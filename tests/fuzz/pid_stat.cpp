#include "proc/pid_stat.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::pid_stat(std::string_view text) {
  const auto stat = parse_pid_stat(text);
  if (!stat) return require_good(stat.error(), text);
  require_inside(stat->comm, text);
  require(stat->pid > 0 && stat->parent_pid >= 0 && stat->threads >= 0, "ids and counts are not negative");
  require((stat->state | 0x20) >= 'a' && (stat->state | 0x20) <= 'z', "the state is a letter");
}
