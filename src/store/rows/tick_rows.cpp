#include "store/rows/tick_rows.h"

#include <fmt/format.h>

#include "store/rows/columns.h"

namespace memoir {
namespace {

constexpr std::int64_t TickCounts::*kCounts[] = {
    &TickCounts::seen,     &TickCounts::kernel_threads, &TickCounts::execed,  &TickCounts::denied,
    &TickCounts::vanished, &TickCounts::blocked,        &TickCounts::zombies, &TickCounts::malformed,
};
constexpr std::int64_t TickReads::*kReads[] = {
    &TickReads::exact,      &TickReads::held,    &TickReads::estimated,   &TickReads::deferred,
    &TickReads::longest_us, &TickReads::checked, &TickReads::checked_kib, &TickReads::error_kib,
};
constexpr std::int64_t TickScans::*kScans[] = {&TickScans::count, &TickScans::cpu_us, &TickScans::longest_us};
constexpr int kColumns = 7 + 8 + 2 + 2 * static_cast<int>(CostKind::count_) + 8 + 3 + 2 + 2;
constexpr std::string_view kActivityColumns = ", alive, started, exited, short_lived, oom_kills";

}  // namespace

std::string tick_columns() {
  std::string columns =
      "id, run_id, wall_ms, boot_ms, keyframe_id, skipped, duration_ms, seen, kernel_threads, execed, "
      "denied, vanished, blocked, zombies, malformed, cpu_us, wall_us";
  for (std::size_t kind = 0; kind < TickCost{}.size(); ++kind) {
    columns += fmt::format(", {0}_cpu_us, {0}_wall_us", to_string(static_cast<CostKind>(kind)));
  }
  return columns +
         ", exact, held, estimated, deferred, longest_us, checked, checked_kib, error_kib, scans, scans_cpu_us, "
         "longest_scan_us, exits, lost_events, storing_cpu_us, storing_wall_us";
}

StoredTick read_tick(const Statement& row) {
  int column = 0;
  const auto next = [&] { return row.integer(column++); };
  StoredTick tick;
  tick.id = next();
  tick.run_id = next();
  tick.begin.wall_ms = next();
  tick.begin.boot_ms = next();
  tick.keyframe = next() == tick.id;
  tick.skipped = next();
  const std::int64_t duration = next();
  tick.end = {tick.begin.wall_ms + duration, tick.begin.boot_ms + duration};
  for (const auto count : kCounts) tick.counts.*count = next();
  tick.total.cpu_us = next();
  tick.total.wall_us = next();
  for (Cost& cost : tick.cost) {
    cost.cpu_us = next();
    cost.wall_us = next();
  }
  if (!row.maybe(column)) return tick;
  tick.reads.emplace();
  for (const auto count : kReads) *tick.reads.*count = next();
  tick.scans.emplace();
  for (const auto count : kScans) *tick.scans.*count = next();
  if (row.maybe(column)) tick.events = {row.integer(column), row.integer(column + 1)};
  column += 2;
  if (row.maybe(column)) tick.storing = {row.integer(column), row.integer(column + 1)};
  return tick;
}

std::string insert_tick_sql() {
  return fmt::format("INSERT INTO tick ({}{}) VALUES ({})", tick_columns(), kActivityColumns,
                     placeholders(kColumns + 5));
}

void insert_tick(Statement& insert, std::int64_t tick_id, std::int64_t run_id, std::int64_t keyframe_id,
                 const Tick& tick, const TickActivity& activity) {
  insert.bind(tick_id, run_id, tick.begin.wall_ms, tick.begin.boot_ms, keyframe_id, tick.skipped,
              tick.end.boot_ms - tick.begin.boot_ms);
  for (const auto count : kCounts) insert.add(tick.counts.*count);
  insert.add(tick.total.cpu_us);
  insert.add(tick.total.wall_us);
  for (const Cost& cost : tick.cost) {
    insert.add(cost.cpu_us);
    insert.add(cost.wall_us);
  }
  for (const auto count : kReads) insert.add(tick.reads.*count);
  for (const auto count : kScans) insert.add(tick.scans.*count);
  for (const auto count : {&TickEvents::exits, &TickEvents::lost})
    insert.add(tick.events ? std::optional((*tick.events).*count) : std::nullopt);
  for (const auto part : {&Cost::cpu_us, &Cost::wall_us})
    insert.add(tick.storing ? std::optional((*tick.storing).*part) : std::nullopt);
  for (const auto count :
       {&TickActivity::alive, &TickActivity::started, &TickActivity::exited, &TickActivity::short_lived})
    insert.add(activity.*count);
  insert.add(activity.oom_kills);
  insert.finish();
}

std::string insert_recorder_memory_sql() {
  return "INSERT INTO recorder_memory (tick_id, data_kib, fragmentation_kib, idle_kib, prepared_kib, sqlite_kib, "
         "rss_kib) VALUES (?, ?, ?, ?, ?, ?, ?)";
}

void insert_recorder_memory(Statement& insert, std::int64_t tick_id, const RecorderMemory& memory) {
  insert.run(tick_id, memory.data_kib, memory.fragmentation_kib, memory.idle_kib, memory.prepared_kib,
             memory.sqlite_kib, memory.rss_kib);
}

std::optional<RecorderMemory> load_recorder_memory(SQLite::Database& database, const StoredTick& tick) {
  Statement statement(database,
                      "SELECT data_kib, fragmentation_kib, idle_kib, prepared_kib, sqlite_kib, rss_kib "
                      "FROM recorder_memory "
                      "WHERE tick_id BETWEEN (SELECT first_tick_id FROM run WHERE id = ?) AND ? "
                      "ORDER BY tick_id DESC LIMIT 1");
  const auto read = [](const Statement& row) {
    return RecorderMemory{row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4), row.maybe(5)};
  };
  return statement.first(read, tick.run_id, tick.id);
}

}  // namespace memoir
