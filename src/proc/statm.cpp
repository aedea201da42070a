#include "proc/statm.h"

#include <array>
#include <limits>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {

Result<Statm> parse_statm(std::string_view text, std::int64_t page_kib) {
  if (text.empty()) return Error{ErrorKind::not_found, "statm: empty, the process has exited"};
  // The fields are: size resident shared text lib data dt. lib and dt have been 0 since Linux 2.6. The last one is only
  // checked for presence, which shows that the previous one is complete.
  std::array<std::int64_t, 6> kib{};
  std::string_view rest = text;
  for (std::int64_t& size : kib) {
    const auto pages = parse_natural(cut_word(rest));
    if (!pages || *pages > std::numeric_limits<std::int64_t>::max() / page_kib) return bad_line("statm", text);
    size = *pages * page_kib;
  }
  if (trim(rest).empty()) return bad_line("statm", text);
  return Statm{kib[0], kib[1], kib[2], kib[3], kib[5]};
}

}  // namespace memoir
