#include "collect/vmmap/ps.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::ps(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = cut_line(text);
    const auto process = parse_ps_line(line);
    if (process) {
      require(process->pid >= 0, "a pid is a number");
      require_inside(process->user, line);
      require_inside(process->command, line);
    } else {
      require_good(process.error(), line.empty() ? " " : line);
    }
  }
}
