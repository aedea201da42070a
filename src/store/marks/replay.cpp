#include "store/marks/replay.h"

#include <fmt/format.h>
#include <map>

#include "store/marks/maker.h"
#include "store/replay/extremes.h"
#include "store/replay/tick_cursor.h"
#include "store/replay/tick_stamps.h"
#include "store/rows/columns.h"
#include "store/rows/process_rows.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

constexpr const char* kByProcess = "tick_id, process_id";

class Replay {
 public:
  Replay(SQLite::Database& database, const TickSpan& ticks)
      : find_(database, fmt::format("SELECT p.identity_id, p.cgroup_id, {}, p.first_tick_id FROM process AS p "
                                    "WHERE p.id = ?",
                                    kImageStart)),
        hot_(database, rows_sql("process_id, source, " + column_list(kHotProcessFields), "process_sample", kByProcess),
             ticks),
        cold_(database, rows_sql("process_id, " + column_list(kColdProcessFields), "process_detail", kByProcess),
              ticks),
        gone_(database, sql::exited_processes, ticks),
        hot_machine_(database, rows_sql(column_list(kHotMachineFields), "machine_sample", "tick_id"), ticks),
        cold_machine_(database, rows_sql(column_list(kColdMachineFields), "machine_detail", "tick_id"), ticks),
        categories_(
            database,
            rows_sql("category_id, rss_kib, pss_kib, uss_kib, swap_kib", "category_sample", "tick_id, category_id"),
            ticks),
        cgroups_(database,
                 rows_sql("cgroup_id, current_kib, anon_kib, swap_kib", "cgroup_sample", "tick_id, cgroup_id"), ticks),
        extremes_(database,
                  fmt::format("SELECT e.tick_id, {} FROM extreme AS e JOIN tick AS t ON t.id = e.tick_id "
                              "WHERE e.tick_id BETWEEN ? AND ? ORDER BY e.tick_id, e.subject, e.subject_id, e.metric",
                              kExtremeColumns),
                  ticks) {}

  std::vector<Mark> marks_of(std::int64_t tick_id, MarkTime time, bool had_tick_before) {
    const bool all = maker_.begin_tick(time);
    observe_extremes(tick_id, time);
    observe_machine(tick_id);
    observe_groups(tick_id, all);
    observe_processes(tick_id, time, had_tick_before, all);
    return maker_.end_tick();
  }

 private:
  struct Process {
    MarkMaker::Groups groups;
    std::int64_t start_ms = 0;
    std::int64_t first_tick_id = 0;
    Source source = Source::inaccessible;
    ProcessMemory memory;
    bool changed = false;
  };

  std::optional<Process> read_process(std::int64_t id) {
    const auto read = [](const Statement& row) {
      Process process;
      process.groups = {row.integer(0), row.integer(1)};
      process.start_ms = row.integer(2);
      process.first_tick_id = row.integer(3);
      return process;
    };
    return find_.first(read, id);
  }

  Process& changed_process(std::int64_t id) {
    auto found = processes_.find(id);
    if (found == processes_.end()) found = processes_.emplace(id, read_process(id).value_or(Process())).first;
    found->second.changed = true;
    return found->second;
  }

  void remove(std::int64_t id) {
    processes_.erase(id);
    maker_.remove_process(id);
  }

  void observe_extremes(std::int64_t tick_id, const MarkTime& tick) {
    std::vector<ExtremeRow> values;
    extremes_.apply_up_to(tick_id, [&](const Statement& row) {
      values.clear();
      read_extremes(row, 1, values);
      const auto kind = static_cast<SubjectKind>(row.integer(1));
      for (const ExtremeRow& of : values) {
        const MarkTime time{of.at_ms, of.after_ms.value_or(tick.before_ms), of.by};
        if (kind != SubjectKind::process) {
          maker_.observe(kind, of.subject_id, of.metric, of.kib, time);
        } else if (const auto process = of.metric == Metric::hwm ? read_process(of.subject_id) : std::nullopt) {
          maker_.observe_exit(of.subject_id, process->groups, of.kib, time);
        }
      }
    });
  }

  void observe_machine(std::int64_t tick_id) {
    hot_machine_.apply_up_to(
        tick_id, [&](const Statement& row) { read_fields<MachineField>(row, 1, machine_, kHotMachineFields); });
    cold_machine_.apply_up_to(
        tick_id, [&](const Statement& row) { read_fields<MachineField>(row, 1, machine_, kColdMachineFields); });
    maker_.observe(machine_);
  }

  void observe_groups(std::int64_t tick_id, bool all) {
    categories_.apply_up_to(tick_id, [&](const Statement& row) {
      CategorySample& sample = category_samples_[row.integer(1)];
      sample.rss_kib = row.integer(2);
      sample.pss_kib = row.integer(3);
      sample.uss_kib = row.integer(4);
      sample.swap_kib = row.integer(5);
      if (!all) maker_.observe_category(row.integer(1), sample);
    });
    cgroups_.apply_up_to(tick_id, [&](const Statement& row) {
      const auto current_kib = row.maybe(2);
      if (!current_kib) return static_cast<void>(cgroup_samples_.erase(row.integer(1)));
      CgroupSample& sample = cgroup_samples_[row.integer(1)];
      sample.current_kib = *current_kib;
      sample.anon_kib = row.maybe(3);
      sample.swap_kib = row.maybe(4);
      if (!all) maker_.observe_cgroup(row.integer(1), sample);
    });
    if (!all) return;
    for (const auto& [id, sample] : category_samples_) maker_.observe_category(id, sample);
    for (const auto& [id, sample] : cgroup_samples_) maker_.observe_cgroup(id, sample);
  }

  void observe_processes(std::int64_t tick_id, const MarkTime& time, bool had_tick_before, bool all) {
    cold_.apply_up_to(tick_id, [&](const Statement& row) {
      read_fields<ProcessField>(row, 2, changed_process(row.integer(1)).memory, kColdProcessFields);
    });
    hot_.apply_up_to(tick_id, [&](const Statement& row) {
      if (row.integer(2) == kAbsentSource) return remove(row.integer(1));
      Process& process = changed_process(row.integer(1));
      process.source = static_cast<Source>(row.integer(2));
      read_fields<ProcessField>(row, 3, process.memory, kHotProcessFields);
      process.memory = unpacked(process.memory, process.source);
    });
    gone_.apply_up_to(tick_id, [&](const Statement& row) { remove(row.integer(1)); });
    for (auto& [id, process] : processes_) {
      if (!process.changed && !all) continue;
      process.changed = false;
      const MarkTime hwm_time =
          process.first_tick_id == tick_id ? since_start(time, process.start_ms, had_tick_before) : time;
      maker_.observe_process(id, process.groups, process.memory, process.source, hwm_time);
    }
  }

  MarkMaker maker_;
  Statement find_;
  TickCursor hot_;
  TickCursor cold_;
  TickCursor gone_;
  TickCursor hot_machine_;
  TickCursor cold_machine_;
  TickCursor categories_;
  TickCursor cgroups_;
  TickCursor extremes_;
  std::map<std::int64_t, Process> processes_;
  MachineMemory machine_;
  std::map<std::int64_t, CategorySample> category_samples_;
  std::map<std::int64_t, CgroupSample> cgroup_samples_;
};

}  // namespace

void replay_marks(SQLite::Database& database, MarkTable& marks) {
  const TickSpan ticks{one(database, "SELECT MIN(id) FROM tick").value_or(1), last_tick_id(database)};
  if (ticks.empty()) return;
  Replay replay(database, ticks);
  TickStamps cursor(database, ticks.first, ticks.last);
  std::optional<TickStamp> before;
  while (cursor.step()) {
    const TickStamp& tick = cursor.mark();
    const bool had_tick_before = before && before->run_id == tick.run_id;
    marks.append(replay.marks_of(cursor.id(), {tick.wall_ms, had_tick_before ? before->wall_ms : tick.wall_ms},
                                 had_tick_before));
    before = tick;
  }
}

}  // namespace memoir
