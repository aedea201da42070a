#include "proc/sysvipc_shm.h"

#include <array>
#include <limits>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// Counted from 0; absent: there is no such column.
std::optional<std::size_t> column_of(std::string_view header, std::string_view name) {
  for (std::size_t column = 0;; ++column) {
    const std::string_view word = cut_word(header);
    if (word.empty()) return std::nullopt;
    if (word == name) return column;
  }
}

std::optional<std::int64_t> number_in(std::string_view row, std::size_t column) {
  for (std::size_t i = 0; i < column; ++i) cut_word(row);
  return parse_natural(cut_word(row));
}

}  // namespace

Result<std::int64_t> parse_sysvipc_shm(std::string_view text) {
  KeyLine line;
  if (!next_line(text, '\n', line) || line.torn) return nothing_known("sysvipc/shm");
  const auto rss = column_of(line.text, "rss");
  const auto swap = column_of(line.text, "swap");
  if (!rss || !swap) return nothing_known("sysvipc/shm");
  std::int64_t bytes = 0;
  while (next_line(text, '\n', line)) {
    for (const std::size_t column : {*rss, *swap}) {
      const auto part = number_in(line.text, column);
      if (line.torn || !part || *part > std::numeric_limits<std::int64_t>::max() - bytes)
        return bad_line("sysvipc/shm", line.text);
      bytes += *part;
    }
  }
  return bytes / 1024;
}

}  // namespace memoir
