#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "store/sqlite/file_owner.h"
#include "store/sqlite/wal_file.h"

// The parts of a file that are read before SQLite opens it: its start, and its -wal. The first byte of the text is the
// size of a page.
void memoir::fuzz::database_start(std::string_view text) {
  const bool ours = owner_of(text) == FileOwner::ours;
  require(!ours || text.size() >= kHeaderBytes, "a Memoir file has a header");
  static_cast<void>(was_ours(text));
  if (text.empty()) return;
  const std::int64_t page_bytes = std::int64_t{8} << (static_cast<unsigned char>(text.front()) % 14);
  const std::string_view wal = text.substr(1);
  const std::string damage = wal_damage(wal, page_bytes);
  require(damage.empty() || static_cast<std::int64_t>(wal.size()) >= kWalHeadBytes + kWalFrameHeadBytes + page_bytes,
          "a damaged file exists");
}
