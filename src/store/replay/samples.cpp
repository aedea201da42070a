#include "store/replay/samples.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>
#include <vector>

#include "store/rows/columns.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

struct Plan {
  TickSpan ticks;                          // the ticks to replay, from the keyframe that the first one needs
  std::vector<PlannedInterval> intervals;  // sorted by the order of opening
};

Plan make_plan(SQLite::Database& database, Range range, const char* changes_sql) {
  Plan plan{span_of(database, range), {}};
  if (plan.ticks.empty()) return plan;
  plan.ticks.first = keyframe_of(database, plan.ticks.first);
  struct None {};
  IntervalPlan<None> builder(
      range, [&plan](const PlannedInterval& interval, const None&) { plan.intervals.push_back(interval); });
  TickCursor changes(database, changes_sql, plan.ticks);
  plan_intervals(database, plan.ticks, builder, [&](std::int64_t tick_id) {
    changes.apply_up_to(tick_id, [&builder](const Statement& row) {
      if (row.integer(2) != 0) {
        builder.remove(row.integer(1));
      } else {
        builder.open(row.integer(1));
      }
    });
  });
  std::ranges::sort(plan.intervals, {}, &PlannedInterval::number);
  return plan;
}

// The samples of the processes that run at the current tick of the replay.
class ProcessReplay {
 public:
  ProcessReplay(SQLite::Database& database, const TickSpan& ticks)
      : key_(database, "SELECT pid, start_ticks, exec_count FROM process WHERE id = ?"),
        boot_(database, "SELECT boot_ms FROM tick WHERE id = ?"),
        hot_(database,
             rows_sql("process_id, source, read_age_ms, " + column_list(kHotProcessFields), "process_sample", kOrder),
             ticks),
        readings_(database, rows_sql("process_id", "process_reading", kOrder), ticks),
        cold_(database,
              rows_sql("process_id, state, parent_pid, threads, " + column_list(kColdProcessFields), "process_detail",
                       kOrder),
              ticks),
        exited_(database, sql::exited_processes, ticks) {}

  void go_to(std::int64_t tick_id) {
    hot_.apply_up_to(tick_id, [&](const Statement& row) {
      const auto source = static_cast<Source>(row.integer(2));
      ProcessSample& sample = sample_of(row.integer(1));
      sample.source = source;
      const auto age_ms = row.maybe(3);
      sample.read_boot_ms = age_ms ? std::optional(boot_ms(row.integer(0)) - *age_ms) : std::nullopt;
      read_fields<ProcessField>(row, 4, sample.memory, kHotProcessFields);
      sample.memory = unpacked(sample.memory, source);
    });
    readings_.apply_up_to(
        tick_id, [&](const Statement& row) { sample_of(row.integer(1)).read_boot_ms = boot_ms(row.integer(0)); });
    cold_.apply_up_to(tick_id, [&](const Statement& row) {
      ProcessSample& sample = sample_of(row.integer(1));
      const std::string letter = row.text(2);
      sample.state = letter.empty() ? '?' : letter.front();
      sample.parent_pid = static_cast<std::int32_t>(row.integer(3));
      sample.threads = static_cast<std::int32_t>(row.integer(4));
      read_fields<ProcessField>(row, 5, sample.memory, kColdProcessFields);
    });
    exited_.apply_up_to(tick_id, [&](const Statement& row) { samples_.erase(row.integer(1)); });
  }

  ProcessSample& sample_of(std::int64_t process_id) {
    const auto [found, added] = samples_.try_emplace(process_id);
    const auto read = [](const Statement& row) { return read_key(row, 0); };
    if (added) found->second.key = key_.first(read, process_id).value_or(ProcessKey());
    return found->second;
  }

 private:
  static constexpr const char* kOrder = "tick_id, process_id";

  // Returns the boot clock of a tick. Many consecutive rows share a tick, so the last one is cached.
  std::int64_t boot_ms(std::int64_t tick_id) {
    if (boot_tick_id_ != tick_id) {
      boot_ms_ = boot_.first([](const Statement& row) { return row.integer(0); }, tick_id).value_or(0);
      boot_tick_id_ = tick_id;
    }
    return boot_ms_;
  }

  Statement key_;
  Statement boot_;
  std::int64_t boot_tick_id_ = 0;
  std::int64_t boot_ms_ = 0;
  TickCursor hot_;
  TickCursor readings_;
  TickCursor cold_;
  TickCursor exited_;
  std::unordered_map<std::int64_t, ProcessSample> samples_;  // samples of the running processes
};

template <typename Sample>
using Samples = std::unordered_map<std::int64_t, Sample>;  // by subject id

Samples<CategorySample> named_categories(SQLite::Database& database) {
  Samples<CategorySample> categories;
  Statement rows(database, "SELECT id, name FROM category ORDER BY id");
  while (rows.step()) categories[rows.integer(0)].category = rows.name(1);
  return categories;
}

// `read` reads a row of `sql` into the sample of its subject. The second column is the subject's id.
template <typename Sample, typename Read>
void visit_group_samples(SQLite::Database& database, const Plan& plan, const std::string& sql, Samples<Sample> samples,
                         const Read& read, const VisitSpan<Sample>& visit) {
  TickCursor rows(database, sql, plan.ticks);
  for (const PlannedInterval& interval : plan.intervals) {
    rows.apply_up_to(interval.tick_id, [&](const Statement& row) { read(row, samples[row.integer(1)]); });
    visit({interval.subject_id, interval.at_ms, interval.until_ms, &samples[interval.subject_id]});
  }
}

}  // namespace

TickSpan span_of(SQLite::Database& database, Range range) {
  // Ids are in recording order. If the wall clock was stepped, ticks outside of the range may be between the first and
  // the last.
  Statement inside(database, "SELECT MIN(id), MAX(id) FROM tick WHERE wall_ms BETWEEN ? AND ?");
  Statement before(database, "SELECT id FROM tick WHERE wall_ms <= ? ORDER BY wall_ms DESC, id DESC LIMIT 1");
  TickSpan span{std::numeric_limits<std::int64_t>::max(), 0};
  const auto widen = [&span](std::int64_t id) { span = {std::min(span.first, id), std::max(span.last, id)}; };
  if (before.bind(range.from_ms).step()) widen(before.integer(0));
  if (inside.bind(range.from_ms, range.to_ms).step() && inside.maybe(0)) {
    widen(inside.integer(0));
    widen(inside.integer(1));
  }
  return span.empty() ? TickSpan{} : span;
}

std::vector<std::int64_t> steps_back(SQLite::Database& database, Range range) {
  // Intervals end at these ticks: at a clock step (is_clock_step) or a keyframe.
  const std::string sql = fmt::format(
      "SELECT t.id FROM tick AS t JOIN tick AS b ON b.id = t.id - 1 WHERE t.id BETWEEN ? AND ? "
      "AND t.wall_ms < b.wall_ms AND (t.keyframe_id = t.id OR t.boot_ms - b.boot_ms - t.wall_ms + b.wall_ms > {}) "
      "ORDER BY t.id",
      kClockStepMs);
  const TickSpan ticks = span_of(database, range);
  const auto read = [](const Statement& row) { return row.integer(0); };
  return every(database, sql, read, ticks.first + 1, ticks.last);
}

void visit_process_samples(SQLite::Database& database, Range range, const VisitSpan<ProcessSample>& visit) {
  const Plan plan = make_plan(database, range, sql::process_changes);
  ProcessReplay replay(database, plan.ticks);
  for (const PlannedInterval& interval : plan.intervals) {
    replay.go_to(interval.tick_id);
    visit({interval.subject_id, interval.at_ms, interval.until_ms, &replay.sample_of(interval.subject_id)});
  }
}

void visit_machine_samples(SQLite::Database& database, Range range, const VisitSpan<MachineMemory>& visit) {
  const Plan plan = make_plan(database, range, sql::machine_changes);
  TickCursor hot(database, rows_sql(column_list(kHotMachineFields), "machine_sample", "tick_id"), plan.ticks);
  TickCursor cold(database, rows_sql(column_list(kColdMachineFields), "machine_detail", "tick_id"), plan.ticks);
  MachineMemory memory;
  for (const PlannedInterval& interval : plan.intervals) {
    hot.apply_up_to(interval.tick_id,
                    [&](const Statement& row) { read_fields<MachineField>(row, 1, memory, kHotMachineFields); });
    cold.apply_up_to(interval.tick_id,
                     [&](const Statement& row) { read_fields<MachineField>(row, 1, memory, kColdMachineFields); });
    visit({0, interval.at_ms, interval.until_ms, &memory});
  }
}

void visit_category_samples(SQLite::Database& database, Range range, const VisitSpan<CategorySample>& visit) {
  const std::string rows = rows_sql(
      "category_id, processes, inexact, rss_kib, pss_kib, uss_kib, swap_kib, swap_pss_kib, shared_swap_kib, "
      "hugetlb_kib",
      "category_sample", "tick_id, category_id");
  const auto read = [](const Statement& row, CategorySample& sample) {
    sample.processes = row.integer(2);
    sample.inexact = row.integer(3);
    sample.rss_kib = row.integer(4);
    sample.pss_kib = row.integer(5);
    sample.uss_kib = row.integer(6);
    sample.swap_kib = row.integer(7);
    sample.swap_pss_kib = row.integer(8);
    sample.shared_swap_kib = row.integer(9);
    sample.hugetlb_kib = row.integer(10);
  };
  visit_group_samples(database, make_plan(database, range, sql::category_changes), rows, named_categories(database),
                      read, visit);
}

void visit_cgroup_samples(SQLite::Database& database, Range range, const VisitSpan<CgroupSample>& visit) {
  const std::string rows =
      rows_sql("cgroup_id, current_kib, anon_kib, swap_kib", "cgroup_sample", "tick_id, cgroup_id");
  const auto read = [](const Statement& row, CgroupSample& sample) {
    sample.current_kib = row.maybe(2).value_or(0);
    sample.anon_kib = row.maybe(3);
    sample.swap_kib = row.maybe(4);
  };
  visit_group_samples(database, make_plan(database, range, sql::cgroup_changes), rows, Samples<CgroupSample>(), read,
                      visit);
}

}  // namespace memoir
