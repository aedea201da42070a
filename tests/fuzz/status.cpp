#include "proc/status.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::status(std::string_view text) {
  ProcessMemory memory;
  const auto head = parse_status(text, memory);
  require_good(memory, head.ok());
  for (std::size_t i = 0; i < kRollupFields; ++i) {
    require(!memory.has(static_cast<ProcessField>(i)), "fields of smaps_rollup are not set");
  }
  if (!head) return require_good(head.error(), text);
  const std::string_view name = head->name.value_or("");
  require_inside(name, text);
  require(unescape_name(name).size() <= name.size(), "a name does not grow when unescaped");
  require(head->parent_pid.value_or(0) >= 0 && head->threads.value_or(0) >= 0, "ids and counts are not negative");
  const int state = head->state.value_or('x') | 0x20;
  require(state >= 'a' && state <= 'z', "the state is a letter");
}
