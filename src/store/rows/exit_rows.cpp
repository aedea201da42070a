#include "store/rows/exit_rows.h"

namespace memoir {
namespace {

// Of equal peaks the first stays.
constexpr const char* kAdd =
    "INSERT INTO exit_sum (tick_id, comm, user, cgroup_id, count, first_ms, last_ms, lived_ms, peak_kib, peak_ms) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count, "
    "last_ms = excluded.last_ms, lived_ms = lived_ms + excluded.lived_ms, "
    "peak_ms = CASE WHEN excluded.peak_kib > peak_kib THEN excluded.peak_ms ELSE peak_ms END, "
    "peak_kib = MAX(peak_kib, excluded.peak_kib)";

}  // namespace

EndRows::EndRows(SQLite::Database& database)
    : insert_(database,
              "INSERT OR IGNORE INTO process_exit (tick_id, process_id, ended_ms, lived_ms, exit_code, peak_kib, "
              "anon_kib, file_kib, shmem_kib, swap_kib) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      add_(database, kAdd) {}

void EndRows::insert(std::int64_t tick_id, std::int64_t process_id, const ProcessEnd& end) {
  const auto held = [&](std::int64_t HeldAtEnd::*kib) {
    return end.held ? std::optional((*end.held).*kib) : std::nullopt;
  };
  insert_.run(tick_id, process_id, end.ended_ms, end.lived_ms, end.exit_code, end.peak_kib, held(&HeldAtEnd::anon_kib),
              held(&HeldAtEnd::file_kib), held(&HeldAtEnd::shmem_kib), held(&HeldAtEnd::swap_kib));
}

void EndRows::add(std::int64_t block_tick_id, std::int64_t cgroup_id, const EndSum& sum) {
  add_.run(block_tick_id, sum.comm, sum.user, cgroup_id, sum.count, sum.first_ms, sum.last_ms, sum.lived_ms,
           sum.peak_kib, sum.peak_ms);
}

}  // namespace memoir
