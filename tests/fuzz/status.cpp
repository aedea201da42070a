#include "proc/status.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::status(std::string_view text) {
  ProcessMemory memory;
  const auto head = parse_status(text, memory);
  require_good(memory, head.ok());
  for (std::size_t i = 0; i < kRollupFields; ++i) {
    require(!memory.has(static_cast<ProcessField>(i)), "smaps_rollup's fields are left alone");
  }
  if (!head) return require_good(head.error(), text);
  require_inside(head->name, text);
  require(unescape_name(head->name).size() <= head->name.size(), "a name does not grow when unescaped");
  require(head->parent_pid >= 0 && head->threads >= 0, "ids and counts are not negative");
  require((head->state | 0x20) >= 'a' && (head->state | 0x20) <= 'z', "the state is a letter");
}
