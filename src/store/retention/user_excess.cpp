#include "store/retention/user_excess.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "store/marks/mark.h"
#include "store/tables.h"
#include "store/tiers.h"
#include "store/write/run_log.h"

namespace memoir {
namespace {

constexpr std::int64_t kExcessRowsAtOnce = 20;
// Maximum number of processes that are deleted before the file's size is checked against its cap again.
constexpr std::int64_t kMaxPart = 5000;
constexpr std::int64_t kReportEveryMs = kDayLengthMs;

// Returns the SQL condition for processes that ran too briefly for rows in a rollup tier, except root's.
std::string short_lived() {
  return fmt::format(
      "p.exited_tick_id < ?1 AND p.exited_ms - p.start_ms < {} AND p.exited_ms >= p.start_ms "
      "AND p.user_id IN (SELECT u.id FROM user AS u WHERE u.uid <> 0)",
      kRollupTiers.front().process_age_ms);
}

}  // namespace

UserExcess::UserExcess(SQLite::Database& database)
    : database_(database),
      marks_(database),
      largest_(database,
               "SELECT u.uid, COUNT(*), SUM(COUNT(*)) OVER () FROM process AS p "
               "JOIN user AS u ON u.id = p.user_id WHERE " +
                   short_lived() + " GROUP BY u.uid ORDER BY 2 DESC LIMIT 1"),
      oldest_(database,
              "SELECT p.id, p.first_tick_id, p.exited_tick_id FROM process AS p INDEXED BY process_exited "
              "JOIN user AS u ON u.id = p.user_id WHERE " +
                  short_lived() + " AND u.uid = ?2 ORDER BY p.exited_tick_id LIMIT ?3"),
      erase_process_(database, "DELETE FROM process WHERE id = ?"),
      erase_marks_(database,
                   "DELETE FROM mark WHERE subject = 2 AND subject_id = ?1 "
                   "AND metric IN (SELECT m.id FROM metric AS m WHERE m.has_marks) AND day IN "
                   "(SELECT -1 UNION SELECT p.first_ms / 86400000 FROM process AS p WHERE p.id = ?1 "
                   "UNION SELECT p.last_ms / 86400000 FROM process AS p WHERE p.id = ?1)") {
  for (const StoreTable& table : tables_of(TableKind::samples)) {
    if (!table.process.empty())
      erase_rows_.emplace_back(database,
                               fmt::format("DELETE FROM {} WHERE tick_id = ? AND {} = ?", table.name, table.process));
  }
}

bool UserExcess::choose(std::int64_t tick_id) {
  // Counting all processes is slow, and would find no excess a second time.
  if (found_none_ && tick_id == tick_id_) return false;
  tick_id_ = tick_id;
  left_ = 0;
  found_none_ = true;
  if (!largest_.bind(tick_id).step()) return false;
  const std::int64_t allowed = std::max(kMinProcesses, largest_.integer(2) / kUserShare);
  uid_ = largest_.integer(0);
  left_ = std::clamp<std::int64_t>(largest_.integer(1) - allowed, 0, kMaxPart);
  largest_.reset();
  merged_ = false;
  found_none_ = left_ == 0;
  return left_ > 0;
}

bool UserExcess::some() {
  if (left_ == 0) return false;
  // Marks are merged first, so that no mark of a deleted process moves to the table mark later.
  if (!std::exchange(merged_, true)) marks_.merge();
  struct Row {
    std::int64_t id;
    std::int64_t first_tick_id;
    std::int64_t exited_tick_id;
  };
  const auto read = [](const Statement& row) { return Row{row.integer(0), row.integer(1), row.integer(2)}; };
  const auto rows = oldest_.every(read, tick_id_, uid_, std::min(left_, kExcessRowsAtOnce));
  for (const Row& row : rows) erase(row.id, row.first_tick_id, row.exited_tick_id);
  deleted_ += static_cast<std::int64_t>(rows.size());
  left_ = rows.empty() ? 0 : left_ - static_cast<std::int64_t>(rows.size());
  if (left_ == 0) report();
  return left_ > 0;
}

void UserExcess::erase(std::int64_t id, std::int64_t first_tick_id, std::int64_t exited_tick_id) {
  for (std::int64_t tick = first_tick_id; tick <= exited_tick_id; ++tick) {
    for (Statement& rows : erase_rows_) rows.run(tick, id);
  }
  erase_marks_.run(id);
  erase_process_.run(id);
}

// Reports at most once a day, because a file at its cap deletes all the time.
void UserExcess::report() {
  Statement last(database_,
                 "SELECT t.run_id, t.wall_ms, t.boot_ms, (SELECT u.name FROM user AS u WHERE u.uid = ?) "
                 "FROM tick AS t ORDER BY t.id DESC LIMIT 1");
  if (!last.bind(uid_).step()) return;
  const Moment now{last.integer(1), last.integer(2)};
  if (reported_ms_ != 0 && now.boot_ms - reported_ms_ < kReportEveryMs) return;
  reported_ms_ = now.boot_ms;
  insert_event(
      database_, last.integer(0),
      {now, "lost",
       fmt::format("The file is at its cap: {} short-lived processes of user {} (uid {}), the user with "
                   "the most of them, were deleted early. They still count in the totals of categories, cgroups and "
                   "the machine.",
                   std::exchange(deleted_, 0), last.text(3), uid_)});
}

}  // namespace memoir
