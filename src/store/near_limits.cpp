#include "store/near_limits.h"

#include "store/sqlite/statement.h"

namespace memoir {
namespace {

// In an aggregate with MAX(), SQLite takes the other columns from the row with the maximum.
constexpr const char* kCgroupsSql =
    "WITH ends AS (SELECT MIN(id) AS first, MAX(id) AS last FROM tick WHERE wall_ms BETWEEN ?1 AND ?2), "
    "used AS (SELECT tick_id, cgroup_id, current_kib, MIN(COALESCE(file_kib, 0), current_kib) AS file_kib, "
    "MIN(COALESCE(max_kib, high_kib), COALESCE(high_kib, max_kib)) AS limit_kib "
    "FROM cgroup_sample, ends WHERE tick_id BETWEEN ends.first AND ends.last) "
    "SELECT g.path, t.wall_ms, f.current_kib, f.limit_kib, f.file_kib FROM "
    "(SELECT *, MAX(1.0 * (current_kib - file_kib) / limit_kib) AS share FROM used "
    "WHERE limit_kib > 0 AND (current_kib - file_kib) >= 0.01 * ?3 * limit_kib GROUP BY cgroup_id) AS f "
    "JOIN cgroup AS g ON g.id = f.cgroup_id JOIN tick AS t ON t.id = f.tick_id ORDER BY f.share DESC, g.path";
constexpr const char* kTmpfsSql =
    "WITH ends AS (SELECT MIN(id) AS first, MAX(id) AS last FROM tick WHERE wall_ms BETWEEN ?1 AND ?2) "
    "SELECT m.mount_point, t.wall_ms, f.used_kib, f.limit_kib, 0 FROM "
    "(SELECT tick_id, tmpfs_id, used_kib, limit_kib, MAX(1.0 * used_kib / limit_kib) AS share FROM tmpfs_sample, ends "
    "WHERE tick_id BETWEEN ends.first AND ends.last AND limit_kib > 0 AND used_kib >= 0.01 * ?3 * limit_kib "
    "GROUP BY tmpfs_id) AS f "
    "JOIN tmpfs AS m ON m.id = f.tmpfs_id JOIN tick AS t ON t.id = f.tick_id ORDER BY f.share DESC, m.mount_point";

Result<std::vector<NearLimit>> load(Reader& reader, const char* sql, Range range, std::int64_t percent) {
  const auto read = [](const Statement& row) {
    return NearLimit{row.name(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4)};
  };
  return reader.read(
      [&](SQLite::Database& database) { return every(database, sql, read, range.from_ms, range.to_ms, percent); });
}

}  // namespace

Result<std::vector<NearLimit>> load_cgroups_near_limit(Reader& reader, Range range, std::int64_t percent) {
  return load(reader, kCgroupsSql, range, percent);
}

Result<std::vector<NearLimit>> load_tmpfs_near_limit(Reader& reader, Range range, std::int64_t percent) {
  return load(reader, kTmpfsSql, range, percent);
}

}  // namespace memoir
