#include "store/sqlite/statement.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <algorithm>
#include <sqlite3.h>

namespace memoir {
namespace {

std::int64_t in_range(std::int64_t number, std::int64_t least, std::int64_t most) {
  if (number >= least && number <= most) return number;
  throw SQLite::Exception(std::to_string(number), SQLITE_RANGE);  // NOLINT(cert-err60-cpp)
}

}  // namespace

Statement::Statement(SQLite::Database& database, std::string_view sql) : database_(database.getHandle()) {
  check(sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement_,
                           nullptr));
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::add_integer(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value));
}

void Statement::add(std::optional<std::int64_t> value) {
  if (value) return add_integer(*value);
  check(sqlite3_bind_null(statement_, ++bound_));
}

void Statement::add(std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.empty() ? "" : text.data();
  check(sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) check(code);
  sqlite3_reset(statement_);
  return false;
}

void Statement::finish() {
  while (step()) {
  }
}

void Statement::reset() {
  sqlite3_reset(statement_);
  bound_ = 0;
}

std::int64_t Statement::last_id() const {
  return sqlite3_last_insert_rowid(database_);
}

std::int64_t Statement::integer(int column) const {
  return in_range(sqlite3_column_int64(statement_, column), -kMost, kMost);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::within(int column, std::int64_t least, std::int64_t most) const {
  return in_range(sqlite3_column_int64(statement_, column), least, most);
}

std::string Statement::text(int column, std::size_t max_bytes) const {
  const auto* data = sqlite3_column_text(statement_, column);
  if (data == nullptr) return {};
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return {reinterpret_cast<const char*>(data), std::min(bytes, max_bytes)};
}

void Statement::check(int code) {
  if (code == SQLITE_OK) return;
  const SQLite::Exception failure(database_, code);
  sqlite3_reset(statement_);
  throw failure;  // NOLINT(cert-err60-cpp)
}

Transaction::Transaction(SQLite::Database& database, Kind kind) : database_(database) {
  database_.exec(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // SQLite may have rolled the transaction back already, after a full disk or an I/O error.
  if (sqlite3_get_autocommit(database_.getHandle()) == 0) database_.tryExec("ROLLBACK");
}

void Transaction::commit() {
  database_.exec("COMMIT");
}

}  // namespace memoir
