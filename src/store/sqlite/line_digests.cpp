#include "store/sqlite/line_digests.h"

#include "base/digest.h"
#include "store/sqlite/statement.h"

namespace memoir {

void fill_in_line_digests(SQLite::Database& database) {
  // By the table, not by the index of what is changed meanwhile.
  Statement rows(database, "SELECT id, line FROM command NOT INDEXED WHERE line_digest = 0 ORDER BY id");
  Statement set(database, "UPDATE command SET line_digest = ?2 WHERE id = ?1");
  while (rows.step()) set.run(rows.integer(0), digest_of(rows.text(1)));
}

}  // namespace memoir
