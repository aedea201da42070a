#pragma once

// A row of the table of bounds in docs/security.md, and a probe for each row. A probe gives the code ten times as much
// as the row's numbers permit, and checks that the code keeps no more than the bounds and reports the excess.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::test {

struct BoundRow {
  std::string quantity;
  std::string bounds;  // cells of time, memory and disk

  // Returns the number before these words, converted to bytes if it has a unit of bytes. Fails if there is no number.
  std::int64_t number(std::string_view words) const;
};

std::vector<BoundRow> bound_rows();

constexpr int kExcess = 10;

// Probes of data from the files of processes.
void probe_process_memory(const BoundRow& row);
void probe_texts(const BoundRow& row);
void probe_slow_reads(const BoundRow& row);
void probe_command_lines(const BoundRow& row);
void probe_names(const BoundRow& row);
void probe_cgroups(const BoundRow& row);
void probe_cgroup_paths(const BoundRow& row);
void probe_mappings(const BoundRow& row);
void probe_tmpfs(const BoundRow& row);
void probe_segments(const BoundRow& row);
void probe_containers(const BoundRow& row);
void probe_blocked_reads(const BoundRow& row);

// Probes of events from the kernel.
void probe_exits(const BoundRow& row);
void probe_oom_kills(const BoundRow& row);

// Probes of the database file.
void probe_processes(const BoundRow& row);
void probe_rollups(const BoundRow& row);
void probe_cgroup_limits(const BoundRow& row);
void probe_waiting_ticks(const BoundRow& row);
void probe_readers(const BoundRow& row);
void probe_answer_rows(const BoundRow& row);

}  // namespace memoir::test
