#include "store/schema/line_digests.h"

#include "base/digest.h"
#include "store/sqlite/statement.h"

namespace memoir {

std::int64_t line_digest(std::string_view line) {
  // SQLite keeps 48 bits, sign and all, in six bytes.
  return static_cast<std::int64_t>(digest_of(line) >> 17);
}

void fill_in_line_digests(SQLite::Database& database) {
  // By the table, not by the index of what is changed meanwhile.
  Statement rows(database, "SELECT id, line FROM command NOT INDEXED WHERE line_digest = 0 ORDER BY id");
  Statement set(database, "UPDATE command SET line_digest = ?2 WHERE id = ?1");
  while (rows.step()) set.run(rows.integer(0), line_digest(rows.text(1)));
}

}  // namespace memoir
