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

Result<std::vector<OomVictim>> load_oom_victims(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) { return read_oom_victims(database, range); });
}

}  // namespace memoir
