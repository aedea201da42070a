#include "store/rollup/pass.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "store/replay/extremes.h"
#include "store/replay/samples.h"
#include "store/replay/tick_stamps.h"
#include "store/rows/columns.h"
#include "store/schema/sql.h"
#include "store/tiers.h"

namespace memoir {
namespace {

// Clears the times of minimum and maximum, which only metrics with a high-water mark keep.
void forget_times(MachinePiece& piece) {
  const MetricInfo& metric = info_of(kRolledMachineMetrics.at(static_cast<std::size_t>(piece.subject_id)));
  const bool marked = metric.marked.contains(SubjectKind::machine);
  Aggregate& value = piece.bucket.values[0];
  if (!marked || !metric.lowest) value.min_at_ms = 0;
  if (!marked || metric.lowest) value.max_at_ms = 0;
}

class MachineSubjects {
 public:
  MachineSubjects() {
    for (std::size_t i = 0; i < kRolledMachineMetrics.size(); ++i) lines_.emplace_back(0, static_cast<std::int64_t>(i));
  }
  void set(std::int64_t at_ms, const MachineMemory& memory, bool see) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const auto value = metric_value(memory, kRolledMachineMetrics[i]);
      Timeline<1>& line = lines_[i];
      const RollupValues<1> values{value ? std::optional(Level{*value}) : std::nullopt};
      if (line.live() && line.values() == values) continue;
      if (see) line.hold_until(at_ms);
      line.set(at_ms, values, 1);
      if (see) line.see();
    }
  }
  void touch(const ExtremeRow& seen) {
    const auto metric =
        static_cast<std::size_t>(std::ranges::find(kRolledMachineMetrics, seen.metric) - kRolledMachineMetrics.begin());
    if (metric < lines_.size()) lines_[metric].touch(0, seen.kib, seen.at_ms);
  }
  void hold_until(std::int64_t until_ms) {
    for (auto& line : lines_) line.hold_until(until_ms);
  }
  void go_on_at(std::int64_t at_ms) {
    for (auto& line : lines_) line.go_on_at(at_ms);
  }
  void see() {
    for (auto& line : lines_) line.see();
  }
  std::vector<std::vector<MachinePiece>> take() {
    std::vector<std::vector<MachinePiece>> all;
    all.reserve(lines_.size());
    for (auto& line : lines_) {
      std::vector<MachinePiece> pieces = line.take();
      for (MachinePiece& piece : pieces) forget_times(piece);
      all.push_back(std::move(pieces));
    }
    return all;
  }

 private:
  std::vector<Timeline<1>> lines_;
};

// Rows of processes from one table. First comes the last row within `before` of each process that runs at the end of
// `before`, which starts with a keyframe. All rows after `before` follow.
class HeldRows {
 public:
  HeldRows(SQLite::Database& database, const std::string& columns, const char* table, const TickSpan& before,
           std::int64_t last)
      : row_(database, fmt::format("SELECT tick_id, {} FROM {} WHERE tick_id = ? AND process_id = ?", columns, table)),
        changes_(database, rows_sql(columns, table, kOrder), {before.last + 1, last}) {
    // There is no GROUP BY, because it would sort the rows. Processes that exit within `before` are left out, because
    // there may be many in an hour.
    Statement keys(
        database,
        fmt::format("SELECT tick_id, process_id FROM {} WHERE tick_id BETWEEN ?1 AND ?2 AND process_id NOT IN "
                    "(SELECT p.id FROM process AS p WHERE p.exited_tick_id BETWEEN ?1 AND ?2) ORDER BY {}",
                    table, kOrder));
    keys.bind(before.first, before.last);
    while (keys.step()) held_[keys.integer(1)] = keys.integer(0);
  }

  template <typename Apply>
  void apply_up_to(std::int64_t tick_id, const Apply& apply) {
    for (const auto& [process_id, held_tick_id] : std::exchange(held_, {}))
      if (row_.bind(held_tick_id, process_id).step()) apply(row_);
    changes_.apply_up_to(tick_id, apply);
  }

 private:
  static constexpr const char* kOrder = "tick_id, process_id";

  Statement row_;
  std::map<std::int64_t, std::int64_t> held_;  // tick of each process's last row within `before`
  TickCursor changes_;
};

// Minimum number of ticks in a segment, because each segment starts with the state of all live processes.
constexpr std::int64_t kMinSliceTicks = 8;

// Returns the end of the lifetime of processes that run at the last tick before `end`.
LifetimeEnd lifetime_end_before(SQLite::Database& database, std::int64_t end) {
  TickStamps marks(database, end - 1, end);
  if (!marks.step()) return {};
  const TickStamp last = marks.mark();
  return {end, marks.step() ? valid_until_ms(last, marks.mark()) : last.wall_ms};
}

// One pass over the ticks; see roll_up().
class Pass {
 public:
  Pass(SQLite::Database& database, std::int64_t first, std::optional<std::int64_t> end, PassLimits limits)
      : database_(database),
        limits_(limits),
        first_(first),
        end_(end),
        keyframe_(keyframe_of(database, first)),
        last_(end ? *end - 1 : last_tick_id(database)),
        // Without an end, a reader rolls up raw rows for itself, and every process has buckets.
        subjects_(database, end ? kRollupTiers.front().process_age_ms : 0,
                  end ? lifetime_end_before(database, *end) : LifetimeEnd(), limits.only),
        hot_(database, "process_id, source, " + column_list(kHotProcessFields), "process_sample", {keyframe_, first},
             last_),
        cold_(database, "process_id, " + column_list(kColdRolledFields), "process_detail", {keyframe_, first}, last_),
        gone_(database, sql::exited_processes, {first + 1, last_}),
        hot_machine_(database, rows_sql(column_list(kHotMachineFields), "machine_sample", "tick_id"),
                     {keyframe_, last_}),
        cold_machine_(database, rows_sql(column_list(kColdMachineFields), "machine_detail", "tick_id"),
                      {keyframe_, last_}),
        extremes_(database,
                  fmt::format("SELECT e.tick_id, {} FROM extreme AS e JOIN tick AS t ON t.id = e.tick_id "
                              "WHERE e.tick_id BETWEEN ? AND ? ORDER BY e.tick_id, e.subject, e.subject_id, e.metric",
                              kExtremeColumns),
                  {first, last_ + 1}) {}

  Segment run() {
    // The stamps start with the previous tick, because stretches also cover the time since that tick.
    TickStamps marks(database_, first_ - 1, last_ + 1);
    while (marks.step()) {
      const std::int64_t id = marks.id();
      const TickStamp& mark = marks.mark();
      if (id > last_) {
        finish(&mark);
        return std::move(segment_);
      }
      if (id >= first_) {
        visit(id, mark, marks.keyframe());
        extend_stretch(id, mark);
        if (subjects_.bytes() > limits_.bytes && id >= first_ + kMinSliceTicks - 1) last_ = std::min(last_, id);
      }
      before_ = mark;
    }
    finish(nullptr);
    return std::move(segment_);
  }

 private:
  void visit(std::int64_t tick_id, const TickStamp& mark, bool keyframe) {
    const bool priming = tick_id == first_;
    const bool broken = before_ && !priming && (is_gap(*before_, mark) || is_clock_step(*before_, mark));
    if (broken) {
      const std::int64_t held_ms = valid_until_ms(*before_, mark);
      machine_.hold_until(held_ms);
      subjects_.hold_until(held_ms);
      machine_.go_on_at(mark.wall_ms);
      subjects_.go_on_at(mark.wall_ms);
    }
    read_extremes_of(tick_id, mark.wall_ms);
    if (!priming && !broken) touch(false);
    subjects_.begin_tick(tick_id, mark.wall_ms, keyframe);
    apply_rows(tick_id);
    subjects_.end_tick();
    machine_.set(mark.wall_ms, machine_memory_, !priming);
    if (priming) {
      subjects_.begin();
      machine_.go_on_at(mark.wall_ms);
      subjects_.go_on_at(mark.wall_ms);
    }
    if (broken || priming) {
      machine_.see();
      subjects_.see_all();
    }
    touch(true);
  }

  // Applies rows of process_sample after those of process_detail, because only process_sample records absence: at the
  // first tick, the last row of process_detail may be older than the absence.
  void apply_rows(std::int64_t tick_id) {
    if (limits_.bytes > 0 && limits_.only != SubjectKind::machine) apply_process_rows(tick_id);
    hot_machine_.apply_up_to(
        tick_id, [&](const Statement& row) { read_fields<MachineField>(row, 1, machine_memory_, kHotMachineFields); });
    cold_machine_.apply_up_to(
        tick_id, [&](const Statement& row) { read_fields<MachineField>(row, 1, machine_memory_, kColdMachineFields); });
  }

  void apply_process_rows(std::int64_t tick_id) {
    cold_.apply_up_to(tick_id, [&](const Statement& row) {
      ProcessMemory memory;
      read_fields<ProcessField>(row, 2, memory, kColdRolledFields);
      subjects_.set_cold(row.integer(1), memory);
    });
    hot_.apply_up_to(tick_id, [&](const Statement& row) {
      if (row.integer(2) == kAbsentSource) return subjects_.end(row.integer(1));
      ProcessMemory memory;
      read_fields<ProcessField>(row, 3, memory, kHotProcessFields);
      const auto source = static_cast<Source>(row.integer(2));
      subjects_.set_hot(row.integer(1), unpacked(memory, source), is_known(source));
    });
    gone_.apply_up_to(tick_id, [&](const Statement& row) { subjects_.end(row.integer(1)); });
  }

  void read_extremes_of(std::int64_t tick_id, std::int64_t wall_ms) {
    seen_.clear();
    std::vector<ExtremeRow> of;
    extremes_.apply_up_to(tick_id, [&](const Statement& row) {
      of.clear();
      read_extremes(row, 1, of);
      for (const ExtremeRow& extreme : of) {
        // The recorder stores no extreme after its tick; a damaged file may have one.
        if (extreme.at_ms <= wall_ms) seen_.emplace_back(static_cast<SubjectKind>(row.integer(1)), extreme);
      }
    });
    std::ranges::stable_sort(seen_, {}, [](const auto& extreme) { return extreme.second.at_ms; });
  }

  // Applies the extremes observed before the tick, or those of the tick itself.
  void touch(bool at_tick) {
    for (const auto& [kind, extreme] : seen_) {
      if ((extreme.by == Origin::sample) != at_tick) continue;
      kind == SubjectKind::machine ? machine_.touch(extreme) : subjects_.touch(kind, extreme);
    }
  }

  void extend_stretch(std::int64_t tick_id, const TickStamp& mark) {
    const bool gap = before_ && is_gap(*before_, mark);
    const bool same = before_ && !gap && before_->run_id == mark.run_id && !is_clock_step(*before_, mark);
    if (!same || segment_.stretches.empty()) {
      Stretch stretch{mark.run_id, tick_id, tick_id, mark.wall_ms, mark.wall_ms, mark.boot_ms, {}, same, 0};
      if (gap) stretch.gap = gap_reason(*before_, mark);
      if (before_) {
        stretch.pause_ms = before_->boot_id == mark.boot_id
                               ? mark.boot_ms - before_->boot_ms
                               : std::clamp<std::int64_t>(mark.wall_ms - before_->wall_ms, 0, kDayLengthMs);
      }
      segment_.stretches.push_back(std::move(stretch));
      return;
    }
    Stretch& last = segment_.stretches.back();
    last.last_tick_id = tick_id;
    last.to_ms = mark.wall_ms;
    last.to_boot_ms = mark.boot_ms;
  }

  void finish(const TickStamp* next) {
    if (before_ && next != nullptr && !is_gap(*before_, *next) && !is_clock_step(*before_, *next)) {
      read_extremes_of(last_ + 1, next->wall_ms);
      touch(false);
    }
    if (before_) {
      segment_.end_ms = next != nullptr ? valid_until_ms(*before_, *next) : before_->wall_ms;
      machine_.hold_until(segment_.end_ms);
      subjects_.hold_until(segment_.end_ms);
    }
    segment_.ticks = {first_, last_ + 1};
    segment_.machine = machine_.take();
    segment_.memory = subjects_.finish(end_ ? std::nullopt : std::optional(LifetimeEnd{last_ + 1, segment_.end_ms}));
  }

  SQLite::Database& database_;
  const PassLimits limits_;
  const std::int64_t first_;
  const std::optional<std::int64_t> end_;
  const std::int64_t keyframe_;
  std::int64_t last_;
  Segment segment_;
  MachineSubjects machine_;
  RollupSubjects subjects_;
  HeldRows hot_;
  HeldRows cold_;
  TickCursor gone_;
  TickCursor hot_machine_;
  TickCursor cold_machine_;
  TickCursor extremes_;
  std::vector<std::pair<SubjectKind, ExtremeRow>> seen_;  // extremes of the tick
  MachineMemory machine_memory_;
  std::optional<TickStamp> before_;
};

}  // namespace

Segment roll_up(SQLite::Database& database, std::int64_t first, std::optional<std::int64_t> end, PassLimits limits) {
  return Pass(database, first, end, limits).run();
}

}  // namespace memoir
