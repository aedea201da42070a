// Every quantity that a user controls has a bound in docs/security.md. The bounds hold when a user provides ten times
// as much.

#include <map>
#include <set>

#include "bounds/row.h"
#include "support/catch.h"

namespace memoir::test {
namespace {

using Probe = void (*)(const BoundRow&);

const std::map<std::string, Probe>& probes() {
  static const std::map<std::string, Probe> all{
      {"Processes",
       [](const BoundRow& row) {
         probe_processes(row);
         probe_process_memory(row);
       }},
      {"Texts of processes", probe_texts},
      {"Slow reads of processes", probe_slow_reads},
      {"Command lines", probe_command_lines},
      {"Names: commands, programs, folders, identities", probe_names},
      {"Identities in a rollup", probe_rollups},
      {"Cgroups", probe_cgroups},
      {"Depth and length of cgroup paths", probe_cgroup_paths},
      {"Limits of cgroups", probe_cgroup_limits},
      {"Exited processes between ticks", probe_exits},
      {"OOM kills", probe_oom_kills},
      {"Mapped files and labels", probe_mappings},
      {"Tmpfs entries", probe_tmpfs},
      {"System V segments", probe_segments},
      {"Containers", probe_containers},
      {"Blocked reads", probe_blocked_reads},
      {"Ticks that cannot be stored", probe_waiting_ticks},
      {"Transactions of readers", probe_readers},
      {"Rows of an answer of `memoir`", probe_answer_rows},
  };
  return all;
}

}  // namespace

TEST_CASE("bounds: every quantity that a user controls stays within its bound at ten times as much") {
  std::set<std::string> probed;
  for (const BoundRow& row : bound_rows()) {
    INFO(row.quantity);
    const auto probe = probes().find(row.quantity);
    REQUIRE(probe != probes().end());
    CHECK(probed.insert(row.quantity).second);
    probe->second(row);
  }
  CHECK(probed.size() == probes().size());
}

}  // namespace memoir::test
