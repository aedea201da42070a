#include "store/replay/process_states.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "store/rows/columns.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

constexpr const char* kHot = "process_sample";
constexpr const char* kCold = "process_state";
constexpr const char* kReading = "process_reading";

// Reads a row of process_state_at.sql.
ProcessState read_state(ProcessReader& processes, const Statement& row, std::int64_t boot_ms) {
  ProcessState state;
  state.process = processes.read(row);
  int column = ProcessReader::kColumns;
  ProcessSample& sample = state.sample;
  sample.read_boot_ms = row.maybe(column++);
  sample.key = state.process.info.key;
  const std::string letter = row.text(column++);
  sample.state = letter.empty() ? '?' : letter.front();
  sample.parent_pid = static_cast<std::int32_t>(row.integer(column++));
  sample.threads = static_cast<std::int32_t>(row.integer(column++));
  sample.source = static_cast<Source>(row.integer(column++));
  read_fields<ProcessField>(row, column, sample.memory, kHotProcessFields);
  column += static_cast<int>(kHotProcessFields.size());
  read_fields<ProcessField>(row, column, sample.memory, kColdProcessFields);
  sample.memory = unpacked(sample.memory, sample.source);
  sample.source = source_at(sample, boot_ms);
  return state;
}

// Returns the tick of the last row of one process in a table. Ticks are searched one by one from the last, because rows
// are ordered by tick.
std::int64_t last_row(SQLite::Database& database, const char* table, std::int64_t from_id, std::int64_t tick_id,
                      std::int64_t process_id) {
  const std::string sql = fmt::format(
      "SELECT t.id FROM tick AS t CROSS JOIN {} AS s ON s.tick_id = t.id AND s.process_id = ? "
      "WHERE t.id BETWEEN ? AND ? ORDER BY t.id DESC LIMIT 1",
      table);
  return one(database, sql, process_id, from_id, tick_id).value_or(0);
}

}  // namespace

ProcessStates::ProcessStates(SQLite::Database& database)
    : database_(database),
      state_(database, fmt::format(fmt::runtime(sql::process_state_at), fmt::arg("process", sql::process_columns),
                                   fmt::arg("hot", column_list(kHotProcessFields, "s.")),
                                   fmt::arg("cold", column_list(kColdProcessFields, "d.")))),
      processes_(database) {}

std::vector<ProcessState> ProcessStates::all(const StoredTick& tick, std::int64_t keyframe_id) {
  std::map<std::int64_t, LastRows> last;
  const auto find_last = [&](const char* table, std::int64_t LastRows::*of) {
    Statement rows(database_, fmt::format("SELECT tick_id, process_id FROM {} WHERE tick_id BETWEEN ? AND ? "
                                          "ORDER BY tick_id",
                                          table));
    rows.bind(keyframe_id, tick.id);
    while (rows.step()) last[rows.integer(1)].*of = rows.integer(0);
  };
  find_last(kHot, &LastRows::hot);
  find_last(kCold, &LastRows::cold);
  find_last(kReading, &LastRows::reading);
  std::vector<ProcessState> states;
  for (const auto& [process_id, rows] : last) {
    if (auto state = read(process_id, tick, rows)) states.push_back(*std::move(state));
  }
  std::ranges::sort(states, {}, [](const ProcessState& state) -> const ProcessKey& { return state.process.info.key; });
  return states;
}

std::optional<ProcessState> ProcessStates::one(const StoredTick& tick, std::int64_t keyframe_id,
                                               std::int64_t process_id) {
  // A process that is new at the tick has all of its rows there.
  if (auto state = read(process_id, tick, {tick.id, tick.id, 0})) return state;
  LastRows rows;
  rows.hot = last_row(database_, kHot, keyframe_id, tick.id, process_id);
  rows.cold = last_row(database_, kCold, keyframe_id, tick.id, process_id);
  rows.reading = last_row(database_, kReading, std::max(rows.hot, keyframe_id), tick.id, process_id);
  return read(process_id, tick, rows);
}

std::optional<ProcessState> ProcessStates::read(std::int64_t process_id, const StoredTick& tick, const LastRows& rows) {
  const auto read = [&](const Statement& row) { return read_state(processes_, row, tick.begin.boot_ms); };
  return state_.first(read, process_id, tick.id, rows.hot, rows.cold, rows.reading);
}

}  // namespace memoir
