#include "store/rows/tick_rows.h"

#include <fmt/format.h>

#include "store/rows/columns.h"

namespace memoir {
namespace {

constexpr std::int64_t TickCounts::*kCounts[] = {
    &TickCounts::seen,    &TickCounts::kernel_threads, &TickCounts::born,     &TickCounts::exited,
    &TickCounts::execed,  &TickCounts::denied,         &TickCounts::vanished, &TickCounts::blocked,
    &TickCounts::zombies, &TickCounts::malformed,
};
constexpr std::int64_t TickReads::*kReads[] = {
    &TickReads::exact,      &TickReads::held,    &TickReads::estimated,   &TickReads::put_off,
    &TickReads::longest_us, &TickReads::checked, &TickReads::checked_kib, &TickReads::error_kib,
};
constexpr std::int64_t TickLooks::*kLooks[] = {&TickLooks::count, &TickLooks::cpu_us, &TickLooks::longest_us};
constexpr int kColumns = 7 + 10 + 2 + 2 * static_cast<int>(CostKind::count_) + 8 + 3 + 2 + 2;

}  // namespace

std::string tick_columns() {
  std::string columns =
      "id, run_id, wall_ms, boot_ms, keyframe_id, skipped, duration_ms, seen, kernel_threads, born, exited, execed, "
      "denied, vanished, blocked, zombies, malformed, cpu_us, wall_us";
  for (std::size_t kind = 0; kind < TickCost{}.size(); ++kind) {
    columns += fmt::format(", {0}_cpu_us, {0}_wall_us", to_string(static_cast<CostKind>(kind)));
  }
  return columns +
         ", exact, held, estimated, put_off, longest_us, checked, checked_kib, error_kib, looks, looks_cpu_us, "
         "longest_look_us, ends, lost_events, storing_cpu_us, storing_wall_us";
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
  tick.looks.emplace();
  for (const auto count : kLooks) *tick.looks.*count = next();
  if (row.maybe(column)) tick.events = {row.integer(column), row.integer(column + 1)};
  column += 2;
  if (row.maybe(column)) tick.storing = {row.integer(column), row.integer(column + 1)};
  return tick;
}

std::string insert_tick_sql() {
  return "INSERT INTO tick (" + tick_columns() + ") VALUES (" + placeholders(kColumns) + ")";
}

void insert_tick(Statement& insert, std::int64_t tick_id, std::int64_t run_id, std::int64_t keyframe_id,
                 const Tick& tick) {
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
  for (const auto count : kLooks) insert.add(tick.looks.*count);
  for (const auto count : {&TickEvents::ends, &TickEvents::lost})
    insert.add(tick.events ? std::optional((*tick.events).*count) : std::nullopt);
  for (const auto part : {&Cost::cpu_us, &Cost::wall_us})
    insert.add(tick.storing ? std::optional((*tick.storing).*part) : std::nullopt);
  insert.finish();
}

}  // namespace memoir
