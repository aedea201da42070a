#include "store/replay/process_reader.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <tuple>

#include "store/rows/columns.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

std::string name(const Statement& row) {
  return row.name(0);
}

std::pair<std::string, std::string> name_and_text(const Statement& row) {
  return {row.name(0), row.text(1)};
}

std::pair<std::uint32_t, std::string> user(const Statement& row) {
  return {static_cast<std::uint32_t>(row.integer(0)), row.name(1)};
}

ProcessSettings settings(const Statement& row) {
  return {row.name(0), row.maybe(1), row.name(2), row.name(3)};
}

}  // namespace

ProcessReader::ProcessReader(SQLite::Database& database)
    : boots_(database, "SELECT boot_uuid FROM boot WHERE id = ?", name),
      users_(database, "SELECT uid, name FROM user WHERE id = ?", user),
      commands_(database, "SELECT exe, line FROM command WHERE id = ?", name_and_text),
      directories_(database, "SELECT path FROM directory WHERE id = ?", name),
      settings_(database, "SELECT cwd, oom_score_adj, limits, category_rule FROM setting WHERE id = ?", settings),
      cgroups_(database, "SELECT path FROM cgroup WHERE id = ?", name),
      categories_(database, "SELECT name FROM category WHERE id = ?", name),
      identities_(database, "SELECT unit, command FROM identity WHERE id = ?", name_and_text) {}

std::string ProcessReader::sql(const std::string& where) {
  return fmt::format("SELECT {} FROM process AS p {}", sql::process_columns, where);
}

const StoredProcess& ProcessReader::read(const Statement& row) {
  int column = 0;
  const auto next = [&] { return row.integer(column++); };
  const auto next_name = [&] { return row.name(column++); };
  StoredProcess& process = process_;
  ProcessInfo& info = process.info;
  process.id = next();
  info.key = read_key(row, column);
  column += 3;
  info.start_ms = next();
  info.parent_pid = static_cast<std::int32_t>(next());
  info.comm = next_name();
  info.cwd = directories_.of(next());
  process.first_ms = row.maybe(column++).value_or(info.start_ms);
  process.last_ms = row.maybe(column++).value_or(process.first_ms);
  process.exited_ms = row.maybe(column++);
  process.exit_kind = next_name();
  process.boot_id = boots_.of(next());
  std::tie(info.uid, info.user) = users_.of(next());
  std::tie(info.exe, info.command) = commands_.of(next());
  info.cgroup = cgroups_.of(next());
  info.category = categories_.of(next());
  process.identity_id = next();
  std::tie(process.unit, process.identity) = identities_.of(process.identity_id);
  info.settings = settings_.of(next());
  return process;
}

}  // namespace memoir
