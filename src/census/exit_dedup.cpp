#include "census/exit_dedup.h"

namespace memoir {

void ExitDedup::keep_first(std::vector<ProcessEvent>& events) {
  std::set<Exited> now;
  std::erase_if(events, [&](const ProcessEvent& event) {
    if (event.kind != ProcessEventKind::exited) return false;
    const Exited ended{event.pid, event.start_ticks};
    return before_.contains(ended) || !now.insert(ended).second;
  });
  before_ = std::move(now);
}

}  // namespace memoir
