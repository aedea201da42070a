#include "proc/smaps.h"

#include <vector>

#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace {

using namespace memoir;

Status parse(std::string_view text, std::size_t piece_bytes, std::vector<SmapsRegion>& regions) {
  SmapsParser parser([&](const SmapsRegion& region) { regions.push_back(region); });
  for (; !text.empty(); text.remove_prefix(std::min(piece_bytes, text.size()))) {
    TRY(parser.add(text.substr(0, piece_bytes)));
  }
  return parser.finish();
}

}  // namespace

void memoir::fuzz::smaps(std::string_view text) {
  std::vector<SmapsRegion> whole;
  std::vector<SmapsRegion> pieces;
  const Status done = parse(text, text.size(), whole);
  const Status in_pieces = parse(text, 1 + text.size() % 61, pieces);
  require(done.ok() == in_pieces.ok() && whole == pieces, "pieces make no difference");
  for (const SmapsRegion& region : whole) {
    require_good(region.memory, true);
    require(region.start <= region.end && region.permissions.size() == 4, "a region is complete");
  }
  if (!done) require_good(done.error(), text);
}
