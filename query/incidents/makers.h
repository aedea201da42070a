#pragma once

// Parts of load_incidents(): they add the incidents without a kill, in any order.

#include "query/incidents/incidents.h"

namespace memoir::query {

// Events of one kind and place within this time are one incident.
inline constexpr std::int64_t kSameIncidentMs = 10 * 60 * 1000;

// Adds incidents of pressure, full swap and fast growth.
Status add_machine_incidents(const Context& context, Range range, std::vector<IncidentEntry>& incidents);

// Adds incidents of full tmpfs mounts and of cgroups at memory.max or memory.high. Omits a cgroup that has a kill among
// `incidents` at that time.
Status add_limit_incidents(const Context& context, Range range, const ContainerNames& containers,
                           std::vector<IncidentEntry>& incidents);

}  // namespace memoir::query
