#include "store/states.h"

#include "store/replay/snapshot.h"
#include "store/rows/tick_rows.h"

namespace memoir {

Result<std::optional<ProcessState>> load_process(Reader& reader, std::int64_t tick_id, std::int64_t process_id) {
  return reader.read([&](SQLite::Database& database) { return load_process(database, tick_id, process_id); });
}

Result<std::map<std::int64_t, std::int64_t>> load_estimated_since(Reader& reader, std::int64_t tick_id) {
  return reader.read([&](SQLite::Database& database) { return load_estimated_since(database, tick_id); });
}

Result<std::optional<RecorderMemory>> load_recorder_memory(Reader& reader, const StoredTick& tick) {
  return reader.read([&](SQLite::Database& database) { return load_recorder_memory(database, tick); });
}

Result<std::vector<CgroupDetail>> load_cgroup_details(Reader& reader, std::int64_t tick_id) {
  return reader.read([&](SQLite::Database& database) { return load_cgroup_details(database, tick_id); });
}

}  // namespace memoir
