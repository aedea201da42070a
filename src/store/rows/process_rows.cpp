#include "store/rows/process_rows.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "model/identity.h"

namespace memoir {
namespace {

constexpr const char* kFind =
    "SELECT id, exited_tick_id, identity_id, cgroup_id FROM process WHERE boot_id = ? AND pid = ? AND start_ticks = ? "
    "AND exec_count = ?";
constexpr const char* kInsert =
    "INSERT INTO process (boot_id, pid, start_ticks, exec_count, first_tick_id, first_ms, start_ms, parent_pid, comm, "
    "cwd_id, user_id, command_id, category_id, cgroup_id, identity_id, setting_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdate =
    "UPDATE process SET start_ms = ?2, parent_pid = ?3, comm = ?4, cwd_id = ?5, user_id = ?6, command_id = ?7, "
    "category_id = ?8, cgroup_id = ?9, identity_id = ?10, setting_id = ?11 WHERE id = ?1";
// last_ms is the time of the tick before ?2, or first_ms for a process without any sample.
constexpr const char* kEnd =
    "UPDATE process SET exited_tick_id = ?2, exited_ms = ?3, exit_kind = ?4, "
    "last_ms = MAX(first_ms, COALESCE((SELECT t.wall_ms FROM tick AS t WHERE t.id = ?2 - 1), first_ms)) WHERE id = ?1";
constexpr const char* kRevive =
    "UPDATE process SET exited_tick_id = NULL, exited_ms = NULL, last_ms = NULL, exit_kind = NULL WHERE id = ?";
// A sample with source 5 (kAbsentSource).
constexpr const char* kAbsence = "INSERT OR REPLACE INTO process_sample (tick_id, process_id, source) VALUES (?, ?, 5)";

}  // namespace

std::int64_t line_digest(std::string_view line) {
  // SQLite stores 48 bits with their sign in six bytes.
  return static_cast<std::int64_t>(digest_of(line) >> 17);
}

ProcessRows::ProcessRows(SQLite::Database& database)
    : database_(database),
      users_(database, "SELECT id FROM user WHERE uid = ? AND name = ?", "INSERT INTO user (uid, name) VALUES (?, ?)"),
      commands_(database, "SELECT id FROM command WHERE line_digest = ? AND exe = ? AND line = ?",
                "INSERT INTO command (line_digest, exe, line) VALUES (?, ?, ?)"),
      directories_(database, "SELECT id FROM directory WHERE path = ?", "INSERT INTO directory (path) VALUES (?)"),
      settings_(database,
                "SELECT id FROM setting WHERE cwd = ? AND oom_score_adj IS ? AND limits = ? AND category_rule = ?",
                "INSERT INTO setting (cwd, oom_score_adj, limits, category_rule) VALUES (?, ?, ?, ?)"),
      categories_(database, "SELECT id FROM category WHERE name = ?", "INSERT INTO category (name) VALUES (?)"),
      cgroups_(database, "SELECT id FROM cgroup WHERE path = ?",
               "INSERT INTO cgroup (path, first_ms, last_ms) VALUES (?, ?, ?)"),
      containers_(database,
                  "SELECT id FROM container WHERE runtime = ? AND key = ? AND name = ? AND image = ? AND pod_uid = ? "
                  "AND pod = ?",
                  "INSERT INTO container (runtime, key, name, image, pod_uid, pod) VALUES (?, ?, ?, ?, ?, ?)"),
      identities_(database, "SELECT id FROM identity WHERE unit = ? AND exe = ? AND command = ?",
                  "INSERT INTO identity (unit, exe, command, first_ms, last_ms) VALUES (?, ?, ?, ?, ?)"),
      find_(database, kFind),
      insert_(database, kInsert),
      update_(database, kUpdate),
      end_(database, kEnd),
      revive_(database, kRevive),
      absence_(database, kAbsence),
      set_container_(database, "UPDATE cgroup SET container_id = ?2 WHERE id = ?1 AND container_id IS NOT ?2") {}

std::optional<ProcessRows::Row> ProcessRows::find(std::int64_t boot_id, const ProcessKey& key) {
  const auto read = [](const Statement& row) {
    return Row{row.integer(0), row.maybe(1), row.integer(2), row.integer(3)};
  };
  return find_.first(read, boot_id, key.pid, key.start_ticks, key.exec_count);
}

std::int64_t ProcessRows::image_start_ms(std::int64_t id) {
  return one(database_, fmt::format("SELECT {} FROM process AS p WHERE p.id = ?", kImageStart), id).value_or(0);
}

void ProcessRows::add_info(Statement& statement, const ProcessInfo& info, std::int64_t at_ms, Row& row) {
  const Identity identity = identity_of(info);
  statement.add(info.start_ms);
  statement.add(info.parent_pid);
  statement.add(info.comm);
  statement.add(directories_.id(info.cwd));
  statement.add(users_.id(info.uid, info.user));
  statement.add(commands_.id(line_digest(info.command), info.exe, info.command));
  statement.add(categories_.id(info.category));
  row.cgroup_id = cgroups_.id_seen(at_ms, info.cgroup);
  row.identity_id = identities_.id_seen(at_ms, identity.unit, identity.exe, identity.command);
  statement.add(row.cgroup_id);
  statement.add(row.identity_id);
  const auto& [cwd, oom_score_adj, limits, category_rule] = info.settings;
  statement.add(settings_.id(cwd, oom_score_adj, limits, category_rule));
}

ProcessRows::Row ProcessRows::insert(std::int64_t boot_id, const ProcessInfo& info, const Sight& first) {
  insert_.bind(boot_id, info.key.pid, info.key.start_ticks, info.key.exec_count, first.tick_id, first.at_ms);
  Row row;
  add_info(insert_, info, first.at_ms, row);
  insert_.finish();
  row.id = insert_.last_id();
  return row;
}

ProcessRows::Row ProcessRows::update(std::int64_t id, const ProcessInfo& info, std::int64_t at_ms) {
  Row row;
  row.id = id;
  update_.bind(id);
  add_info(update_, info, at_ms, row);
  update_.finish();
  return row;
}

void ProcessRows::end(std::int64_t id, const Sight& gone, std::string_view exit_kind) {
  end_.run(id, gone.tick_id, gone.at_ms, exit_kind);
}

void ProcessRows::revive(const Row& gone) {
  if (!gone.exited_tick_id) return;
  absence_.run(*gone.exited_tick_id, gone.id);
  revive_.run(gone.id);
}

std::int64_t ProcessRows::count_other_boots(std::int64_t boot_id) {
  return one(database_, "SELECT COUNT(*) FROM process WHERE exited_tick_id IS NULL AND boot_id <> ?", boot_id)
      .value_or(0);
}

void ProcessRows::end_other_boots(std::int64_t boot_id, const Sight& gone) {
  Statement rows(database_, "SELECT id FROM process WHERE exited_tick_id IS NULL AND boot_id <> ? ORDER BY id");
  rows.bind(boot_id);
  while (rows.step()) end(rows.integer(0), gone, "unknown");
}

void ProcessRows::set_container(std::int64_t cgroup_id, const Container& container) {
  const auto& [runtime, key, name, image, pod_uid, pod] = container;
  set_container_.run(cgroup_id, containers_.id(runtime, key, name, image, pod_uid, pod));
}

}  // namespace memoir
