#pragma once

// Parts of load_incidents(): a maker for each kind of incident that is no kill. In any order.

#include "query/incidents/incidents.h"

namespace memoir::query {

// Events of one kind and place within this time are one incident.
inline constexpr std::int64_t kSameIncidentMs = 10 * 60 * 1000;

// Pressure, swap and fast growth.
Status add_machine_incidents(const Context& context, Range range, std::vector<IncidentEntry>& incidents);

// Cgroups at memory.max or memory.high, without those with a kill among `incidents` at that time; full tmpfs mounts.
Status add_limit_incidents(const Context& context, Range range, const ContainerNames& containers,
                           std::vector<IncidentEntry>& incidents);

}  // namespace memoir::query
