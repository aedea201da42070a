#include "store/retention/garbage_collector.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "store/marks/mark.h"

namespace memoir {
namespace {

constexpr int kRowsAtOnce = 100;
constexpr int kProcessSubject = static_cast<int>(SubjectKind::process);

constexpr const char* kEnded =
    "SELECT id, first_tick_id, exited_tick_id, start_ms, first_ms, COALESCE(last_ms, first_ms), "
    "COALESCE(exited_ms, last_ms, first_ms) FROM process "
    "WHERE exited_tick_id BETWEEN ?1 AND ?3 AND (exited_tick_id > ?1 OR id > ?2) ORDER BY exited_tick_id, id LIMIT ?4";

// Deletes runs that are older than all remaining data. The last run always stays.
constexpr const char* kEraseRuns =
    "DELETE FROM run WHERE id < MIN((SELECT MAX(r.id) FROM run AS r), "
    "COALESCE((SELECT t.run_id FROM tick AS t ORDER BY t.id LIMIT 1), 0), "
    "COALESCE((SELECT s.run_id FROM stretch AS s ORDER BY s.id LIMIT 1), 0), "
    "COALESCE((SELECT e.run_id FROM event AS e ORDER BY e.id LIMIT 1), 9223372036854775807))";
constexpr const char* kEraseOddLines = "DELETE FROM odd_line WHERE run_id < (SELECT MIN(r.id) FROM run AS r)";
constexpr const char* kEraseBoots =
    "DELETE FROM boot WHERE id < (SELECT MIN(r.boot_id) FROM run AS r) "
    "AND NOT EXISTS (SELECT 1 FROM process AS p WHERE p.boot_id = boot.id)";

// Returns the number of tiers in which a subject with this lifetime may have rows.
std::size_t count_tiers(std::int64_t lived_ms, std::int64_t TierShape::*age_ms) {
  return static_cast<std::size_t>(std::count_if(kRollupTiers.begin(), kRollupTiers.end(),
                                                [=](const TierShape& shape) { return lived_ms >= shape.*age_ms; }));
}

constexpr std::int64_t kMaxId = std::int64_t{1} << 27;

bool is_large(std::int64_t id) {
  return id < 0 || id > kMaxId;
}

}  // namespace

void IdSet::add(std::int64_t id) {
  if (is_large(id)) return;
  const auto index = static_cast<std::size_t>(id);
  if (index >= ids_.size()) ids_.resize(index + 1 + index / 2);
  if (!ids_[index]) ++size_;
  ids_[index] = true;
}

bool IdSet::has(std::int64_t id) const {
  if (is_large(id)) return true;
  const auto index = static_cast<std::size_t>(id);
  return index < ids_.size() && ids_[index];
}

ReferencedIds read_referenced_ids(SQLite::Database& database) {
  // Each referring table is scanned once, for all names in it.
  std::map<std::string_view, std::pair<std::string, std::vector<std::size_t>>> looks;
  const std::vector<StoreTable> names = tables_of(TableKind::names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto& [columns, tables] = looks[names[i].users];
    columns += fmt::format("{}{}", columns.empty() ? "" : ", ", names[i].column);
    tables.push_back(i);
  }
  ReferencedIds used(names.size());
  for (const auto& [users, look] : looks) {
    const auto& [columns, tables] = look;
    Statement rows(database, fmt::format("SELECT {} FROM {}", columns, users));
    while (rows.step()) {
      for (std::size_t i = 0; i < tables.size(); ++i) used[tables[i]].add(rows.integer(static_cast<int>(i)));
    }
  }
  return used;
}

GarbageCollector::GarbageCollector(SQLite::Database& database)
    : database_(database),
      ended_(database, kEnded),
      erase_process_(database, "DELETE FROM process WHERE id = ?"),
      next_mark_day_(database, "SELECT MIN(day) FROM mark WHERE day BETWEEN ? AND ?"),
      erase_mark_(database,
                  "DELETE FROM mark WHERE day = ? AND subject = ? AND subject_id = ? "
                  "AND metric IN (SELECT m.id FROM metric AS m WHERE m.has_marks)"),
      first_event_(database, "SELECT id, run_id, boot_ms FROM event ORDER BY id LIMIT 1"),
      erase_event_(database, "DELETE FROM event WHERE id = ?"),
      first_stretch_(database,
                     "SELECT id, last_tick_id, recorded_ms + to_ms - from_ms FROM stretch "
                     "WHERE id < (SELECT MAX(l.id) FROM stretch AS l) ORDER BY id LIMIT 1"),
      erase_stretch_(database, "DELETE FROM stretch WHERE id = ?"),
      erase_runs_(database, kEraseRuns),
      erase_odd_lines_(database, kEraseOddLines),
      erase_boots_(database, kEraseBoots) {}

void GarbageCollector::restart() {
  cursors_ = {};
  scan_table_ = 0;
  scan_id_ = 0;
  more_unused_ = true;
}

void GarbageCollector::begin(const RetentionCutoffs& cuts) {
  cutoffs_ = &cuts;
  for (Cursor& cursor : cursors_) cursor.done = false;
}

bool GarbageCollector::is_over(std::size_t tiers, std::int64_t wall_ms) const {
  const auto& cuts = cutoffs_->tiers();
  return std::all_of(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(tiers),
                     [wall_ms](const TierCutoff& cut) { return cut.expired(wall_ms); });
}

// Returns the number of tiers in which a process may have rows. Its lifetime is the longer of those by the wall clock
// and by the recorder's clock, because the wall clock may have been set during it.
std::size_t GarbageCollector::tiers_of(const Exited& process) const {
  const RecordedPast& past = cutoffs_->past();
  const std::int64_t recorded =
      past.at_tick(process.exited_tick_id - 1, process.last_ms) - past.at_tick(process.first_tick_id, process.first_ms);
  const std::int64_t lived = std::max(process.last_ms - process.start_ms, recorded);
  return count_tiers(lived, &TierShape::process_age_ms);
}

bool GarbageCollector::some_processes() {
  for (std::size_t tiers = 0; tiers < cursors_.size(); ++tiers) {
    if (!cursors_[tiers].done && scan_tier(tiers)) return true;
  }
  return false;
}

// Deletes some processes with rows in exactly `tiers` tiers, in the order of their exits. Returns false if none is
// left, or the next one must stay.
bool GarbageCollector::scan_tier(std::size_t tiers) {
  Cursor& cursor = cursors_[tiers];
  const auto read = [](const Statement& row) {
    return Exited{row.integer(0), row.integer(1), row.integer(2), row.integer(3),
                  row.integer(4), row.integer(5), row.integer(6)};
  };
  const auto rows = ended_.every(read, cursor.exited_tick_id, cursor.id, cutoffs_->first_tick(), kRowsAtOnce);
  for (const Exited& process : rows) {
    if (tiers_of(process) == tiers) {
      if (!is_over(tiers, process.last_ms) || !is_over(tiers, process.exited_ms)) {
        cursor.done = true;
        return false;
      }
      erase(process);
    }
    cursor.exited_tick_id = process.exited_tick_id;
    cursor.id = process.id;
  }
  cursor.done = rows.empty();
  return !cursor.done;
}

void GarbageCollector::erase(const Exited& process) {
  std::int64_t from_ms = std::min(process.first_ms, process.last_ms);
  std::int64_t to_ms = std::max(process.first_ms, process.last_ms);
  // The wall clock may have been set in between.
  const auto& spans = cutoffs_->past().spans();
  auto span = std::ranges::upper_bound(spans, process.first_tick_id, {}, &RecordedSpan::first_tick_id);
  for (; span != spans.end() && span->last_tick_id < process.exited_tick_id - 1; ++span) {
    from_ms = std::min(from_ms, span->from_ms);
    to_ms = std::max(to_ms, span->to_ms);
  }
  erase_marks(kProcessSubject, process.id, from_ms, to_ms);
  erase_process_.run(process.id);
  more_unused_ = true;
}

void GarbageCollector::erase_marks(int subject, std::int64_t id, std::int64_t from_ms, std::int64_t to_ms) {
  erase_mark_.run(kAllTime, subject, id);
  const std::int64_t last_day = to_ms / kDayLengthMs;
  std::int64_t day = from_ms / kDayLengthMs;
  while (const auto found = next_mark_day_.one(day, last_day)) {
    erase_mark_.run(*found, subject, id);
    day = *found + 1;
  }
}

bool GarbageCollector::unused(const ReferencedIds& used, const std::function<bool()>& go_on) {
  const std::vector<StoreTable> tables = tables_of(TableKind::names);
  if (scan_table_ == 0 && scan_id_ == 0) more_unused_ = false;
  for (; scan_table_ < tables.size(); ++scan_table_, scan_id_ = 0) {
    const StoreTable& table = tables[scan_table_];
    const IdSet& ids = used[scan_table_];
    if (!(table.subject ? unused_groups(table, ids, go_on) : unused_names(table.name, ids, go_on))) return false;
  }
  scan_table_ = 0;
  return true;
}

bool GarbageCollector::unused_names(std::string_view table, const IdSet& used, const std::function<bool()>& go_on) {
  Statement next(database_, fmt::format("SELECT id FROM {} WHERE id > ? ORDER BY id LIMIT 1", table));
  Statement erase(database_, fmt::format("DELETE FROM {} WHERE id = ?", table));
  while (const auto id = next.one(scan_id_)) {
    scan_id_ = *id;
    if (!used.has(scan_id_)) erase.run(scan_id_);
    if (!go_on()) return false;
  }
  return true;
}

bool GarbageCollector::unused_groups(const StoreTable& table, const IdSet& used, const std::function<bool()>& go_on) {
  Statement next(
      database_,
      fmt::format("SELECT g.id, g.first_ms, g.{1}, EXISTS (SELECT 1 FROM tick AS t WHERE t.wall_ms <= g.{1}) "
                  "FROM {0} AS g WHERE g.id > ? ORDER BY g.id LIMIT 1",
                  table.name, table.age));
  Statement erase(database_, fmt::format("DELETE FROM {} WHERE id = ?", table.name));
  while (next.bind(scan_id_).step()) {
    const std::int64_t id = scan_id_ = next.integer(0);
    const std::int64_t first_ms = next.integer(1);
    const std::int64_t last_ms = next.integer(2);
    // While ticks up to its last observation remain, a cgroup may have samples.
    const bool in_ticks = next.integer(3) != 0;
    next.reset();
    const std::int64_t lived = std::max<std::int64_t>(last_ms - first_ms, 0);
    if (!used.has(id) && !in_ticks && is_over(count_tiers(lived, &TierShape::group_age_ms), last_ms)) {
      erase_marks(static_cast<int>(*table.subject), id, first_ms, last_ms);
      erase.run(id);
    }
    if (!go_on()) return false;
  }
  return true;
}

// Deletes events, which expire with the rollups of hours.
bool GarbageCollector::some_events() {
  const std::int64_t cut = cutoffs_->of(Tier::hour).recorded_ms;
  for (int i = 0; i < kRowsAtOnce; ++i) {
    if (!first_event_.bind().step()) return false;
    const std::int64_t id = first_event_.integer(0);
    const std::int64_t at = cutoffs_->past().at_moment(first_event_.integer(1), first_event_.integer(2));
    first_event_.reset();
    if (at >= cut) return false;
    erase_event_.run(id);
  }
  return true;
}

bool GarbageCollector::some_runs() {
  const auto& cuts = cutoffs_->tiers();
  const std::int64_t cut = std::ranges::min_element(cuts, {}, &TierCutoff::recorded_ms)->recorded_ms;
  for (int i = 0; i < kRowsAtOnce; ++i) {
    const bool some = first_stretch_.bind().step();
    const std::int64_t id = some ? first_stretch_.integer(0) : 0;
    const bool old = some && first_stretch_.integer(1) < cutoffs_->first_tick() && first_stretch_.integer(2) < cut;
    first_stretch_.reset();
    if (!old) {
      erase_runs_.finish();
      erase_odd_lines_.finish();
      erase_boots_.finish();
      return false;
    }
    erase_stretch_.run(id);
  }
  return true;
}

}  // namespace memoir
