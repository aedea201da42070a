#include "store/events.h"

#include "store/rows/victim_json.h"
#include "store/sqlite/statement.h"

namespace memoir {

Result<std::vector<Event>> load_events(Reader& reader, Range range) {
  const auto read = [](const Statement& row) {
    return Event{{row.integer(0), row.integer(1)}, row.text(2), row.text(3)};
  };
  return reader.read([&](SQLite::Database& database) {
    return every(database, "SELECT wall_ms, boot_ms, kind, text FROM event WHERE wall_ms BETWEEN ? AND ? ORDER BY id",
                 read, range.from_ms, range.to_ms);
  });
}

Result<std::vector<StoredOddLine>> load_odd_lines(Reader& reader, Range range) {
  const auto read = [](const Statement& row) {
    return StoredOddLine{{row.text(0), row.text(1), row.text(2), row.integer(3)}, row.integer(4)};
  };
  return reader.read([&](SQLite::Database& database) {
    return every(database,
                 "SELECT file, key, problem, SUM(lines), MAX(last_ms) FROM odd_line WHERE last_ms >= ? "
                 "AND first_ms <= ? GROUP BY file, key ORDER BY SUM(lines) DESC, file, key",
                 read, range.from_ms, range.to_ms);
  });
}

Result<std::vector<OomVictim>> load_oom_victims(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) { return read_oom_victims(database, range); });
}

Result<std::vector<CountedKills>> load_counted_kills(Reader& reader, Range range) {
  const auto read = [](const Statement& row) {
    return CountedKills{row.integer(0), row.maybe(1), row.integer(2), row.name(3)};
  };
  return reader.read([&](SQLite::Database& database) {
    return every(database,
                 "SELECT detail->>'kills', detail->>'since_ms', wall_ms, detail->>'cgroup' FROM event "
                 "WHERE kind = 'oom-kill' AND wall_ms BETWEEN ? AND ? AND json_valid(detail) ORDER BY wall_ms, id",
                 read, range.from_ms, range.to_ms);
  });
}

}  // namespace memoir
