#include "query/leaks/room.h"

#include <set>

#include "analysis/leak/limits.h"

namespace memoir::query {

namespace {

Result<LeakRoom> room_at(Reader& reader, std::int64_t tick_id) {
  Snapshot snapshot = TRY(reader.snapshot(tick_id));
  return LeakRoom{snapshot.machine.memory, std::move(snapshot.cgroups), std::move(snapshot.processes)};
}

Result<LeakRoom> room_rolled_up(Reader& reader, const LeakSource& source) {
  const std::vector<Metric> metrics{metric_of(MachineField::mem_total), metric_of(MachineField::mem_available),
                                    metric_of(MachineField::swap_free)};
  LeakRoom room;
  const Range end{source.range.to_ms - bucket_ms(Tier::day), source.range.to_ms};
  TRY(reader.history({machine_tier(source), SubjectKind::machine, {}, end, metrics, true},
                     [&](const SubjectInterval& of) {
                       if (of.interval.last) room.machine.set(*machine_field(of.metric), *of.interval.last);
                     }));
  return room;
}

}  // namespace

Result<LeakRoom> load_room(Reader& reader, const LeakSource& source) {
  const auto tick = TRY(reader.tick_at(source.range.to_ms));
  return tick ? room_at(reader, tick->id) : room_rolled_up(reader, source);
}

std::vector<LeakLimit> cgroup_limits_of(const LeakRoom& room, const Group& group) {
  std::set<std::string> paths;
  for (const ProcessState& state : room.living) {
    if (state.process.identity_id == group.identity_id) paths.insert(state.process.info.cgroup);
  }
  return cgroup_limits(room.cgroups, {paths.begin(), paths.end()}, room.machine);
}

std::vector<LeakLimit> limits_of(const LeakRoom& room, const Group& group) {
  std::vector<LeakLimit> limits = cgroup_limits_of(room, group);
  const std::vector<LeakLimit> of_machine = machine_limits(room.machine);
  limits.insert(limits.end(), of_machine.begin(), of_machine.end());
  return limits;
}

}  // namespace memoir::query
