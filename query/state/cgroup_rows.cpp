#include "query/state/cgroup_rows.h"

#include <map>

#include "model/cgroup.h"
#include "model/container.h"
#include "store/names.h"
#include "store/states.h"

namespace memoir::query {
namespace {

using Rows = std::map<std::string, CgroupRow, std::less<>>;

CgroupRow& row_of(Rows& rows, const std::string& path) {
  CgroupRow& row = rows[path];
  row.path = path;
  return row;
}

Status add_tick(Reader& reader, const State& state, const StoredTick& tick, Rows& rows) {
  for (const CgroupSample& sample : *state.cgroups) row_of(rows, sample.path).now = sample;
  auto details = TRY(load_cgroup_details(reader, tick.id));
  for (CgroupDetail& detail : details) {
    if (const auto row = rows.find(detail.path); row != rows.end()) row->second.detail = std::move(detail);
  }
  for (const ProcessUse& process : state.processes) {
    for (std::string_view path = process.process->info.cgroup; !path.empty(); path = cgroup_above(path)) {
      if (const auto row = rows.find(path); row != rows.end()) add_to(row->second.processes, process);
    }
  }
  return Done{};
}

Status add_means(Reader& reader, const State& state, Rows& rows) {
  const auto groups = TRY(kept_groups(reader, state, "cgroup"));
  for (const GroupState& group : *groups) row_of(rows, group.name).processes.add_mean(group.kib, group.processes);
  return Done{};
}

// Keeps the highest mark of the days; of equal marks, the first.
void keep_highest(std::optional<HighWater>& mark, const HighWater& other) {
  if (!mark || other.value_kib > mark->value_kib) mark = other;
}

Status add_marks(Reader& reader, const State& state, Rows& rows) {
  const auto means = means_over(state);
  const auto days = means ? std::optional(Range{means->bucket.from_ms, means->bucket.to_ms - 1}) : std::nullopt;
  const auto marks = TRY(reader.high_water(days, {SubjectKind::cgroup}));
  for (const HighWater& mark : marks) {
    if (!info_of(mark.metric).counted || (!means && !rows.contains(mark.name))) continue;
    CgroupRow& row = row_of(rows, mark.name);
    keep_highest(mark.metric == Metric::usage        ? row.usage_mark
                 : mark.metric == Metric::usage_anon ? row.anon_mark
                                                     : row.swap_mark,
                 mark);
  }
  return Done{};
}

// Containers are matched by label, because a cgroup may be below or above the cgroup that was reported for its
// container.
Status add_containers(Reader& reader, Rows& rows) {
  std::map<std::string, Container> known;
  const auto containers = TRY(load_containers(reader));
  for (const CgroupContainer& of : containers) known[container_of(of.path)] = of.container;
  for (auto& [path, row] : rows) {
    row.container = container_in(path);
    const auto found = known.find(container_label(row.container));
    if (found != known.end() && !row.container.key.empty()) row.container = found->second;
  }
  return Done{};
}

}  // namespace

std::optional<double> CgroupRow::limit_percent() const {
  const auto limit = now ? (now->max_kib ? now->max_kib : now->high_kib) : std::nullopt;
  return limit ? share_percent(now->current_kib, limit) : std::nullopt;
}

Result<std::vector<CgroupRow>> load_cgroups(const Context& context, const State& state, CgroupMarks marks) {
  Rows rows;
  const StoredTick* const tick = tick_of(state);
  TRY(tick == nullptr ? add_means(context.reader, state, rows) : add_tick(context.reader, state, *tick, rows));
  if (marks == CgroupMarks::read) TRY(add_marks(context.reader, state, rows));
  TRY(add_containers(context.reader, rows));
  return taken_from(rows);
}

}  // namespace memoir::query
