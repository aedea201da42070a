#include "proc/sysvipc_shm.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// In the order of kColumnNames.
enum class Column : std::uint8_t { key, shmid, perms, size, cpid, lpid, nattch, uid, cuid, dtime, rss, swap, count_ };
constexpr std::size_t kColumns = static_cast<std::size_t>(Column::count_);
constexpr std::array<std::string_view, kColumns> kColumnNames{"key",    "shmid", "perms", "size",  "cpid", "lpid",
                                                              "nattch", "uid",   "cuid",  "dtime", "rss",  "swap"};
constexpr std::int64_t kRemoved = 01000;  // SHM_DEST, which perms shows in octal

using Numbers = std::array<std::int64_t, kColumns>;

std::int64_t at(const Numbers& row, Column column) {
  return row[static_cast<std::size_t>(column)];
}

class Header {
 public:
  explicit Header(std::string_view line) {
    for (std::string_view word = cut_word(line); !word.empty(); word = cut_word(line)) {
      const auto* found = std::ranges::find(kColumnNames, word);
      columns_.push_back(static_cast<Column>(found - kColumnNames.begin()));
    }
  }

  bool has(Column column) const { return std::ranges::find(columns_, column) != columns_.end(); }
  bool has_all() const {
    return std::ranges::count_if(columns_, [](Column column) { return column != Column::count_; }) == kColumns;
  }

  // Those of columns that are not there stay 0.
  std::optional<Numbers> read(std::string_view line) const {
    Numbers row{};
    for (const Column column : columns_) {
      const std::string_view word = cut_word(line);
      if (column == Column::count_) continue;
      const auto number = read(column, word);
      if (!number) return std::nullopt;
      row[static_cast<std::size_t>(column)] = *number;
    }
    return row;
  }

 private:
  static std::optional<std::int64_t> read(Column column, std::string_view word) {
    if (column == Column::key) return parse_number<std::int64_t>(word);  // which some kernels print with a sign
    if (column != Column::perms) return parse_natural(word);
    std::int64_t perms = 0;
    for (const char digit : word) {
      if (digit < '0' || digit > '7' || perms > 07777777) return std::nullopt;
      perms = perms * 8 + (digit - '0');
    }
    return word.empty() ? std::nullopt : std::optional(perms);
  }

  std::vector<Column> columns_;  // count_: one that we do not know
};

std::int64_t kib(std::int64_t bytes) {
  return bytes / 1024;
}

SysvSegment segment_of(const Numbers& row) {
  SysvSegment segment;
  segment.shmid = at(row, Column::shmid);
  segment.key = at(row, Column::key);
  segment.creator_pid = static_cast<std::int32_t>(at(row, Column::cpid));
  segment.uid = static_cast<std::uint32_t>(at(row, Column::uid));
  segment.creator_uid = static_cast<std::uint32_t>(at(row, Column::cuid));
  segment.size_kib = kib(at(row, Column::size));
  segment.attachments = at(row, Column::nattch);
  segment.last_pid = static_cast<std::int32_t>(at(row, Column::lpid));
  segment.removed = (at(row, Column::perms) & kRemoved) != 0;
  segment.rss_kib = kib(at(row, Column::rss));
  segment.swap_kib = kib(at(row, Column::swap));
  if (const std::int64_t detached_s = at(row, Column::dtime); detached_s > 0) segment.detached_ms = detached_s * 1000;
  return segment;
}

// Numbers that the kernel's types cannot hold are not the kernel's.
bool fits(const Numbers& row) {
  constexpr std::int64_t most_seconds = std::numeric_limits<std::int64_t>::max() / 1000;
  const auto at_most = [&row](Column column, std::int64_t most) { return at(row, column) <= most; };
  return at_most(Column::cpid, std::numeric_limits<std::int32_t>::max()) &&
         at_most(Column::lpid, std::numeric_limits<std::int32_t>::max()) &&
         at_most(Column::uid, std::numeric_limits<std::uint32_t>::max()) &&
         at_most(Column::cuid, std::numeric_limits<std::uint32_t>::max()) && at_most(Column::dtime, most_seconds) &&
         at_most(Column::rss, std::numeric_limits<std::int64_t>::max() - at(row, Column::swap));
}

}  // namespace

Result<SysvTable> parse_sysvipc_shm(std::string_view text) {
  KeyLine line;
  if (!next_line(text, '\n', line) || line.torn) return nothing_known("sysvipc/shm");
  const Header header(line.text);
  if (!header.has(Column::rss) || !header.has(Column::swap)) return nothing_known("sysvipc/shm");
  SysvTable table;
  std::int64_t bytes = 0;
  while (next_line(text, '\n', line)) {
    const auto row = line.torn ? std::nullopt : header.read(line.text);
    const std::int64_t held = row && fits(*row) ? at(*row, Column::rss) + at(*row, Column::swap) : -1;
    if (held < 0 || held > std::numeric_limits<std::int64_t>::max() - bytes) {
      if (table.malformed++ == 0) table.first_malformed = bad_line("sysvipc/shm", line.text);
      continue;
    }
    bytes += held;
    if (header.has_all()) table.segments.push_back(segment_of(*row));
  }
  table.held_kib = kib(bytes);
  std::ranges::sort(table.segments, {}, &SysvSegment::shmid);
  const auto again = std::unique(table.segments.begin(), table.segments.end(),
                                 [](const SysvSegment& a, const SysvSegment& b) { return a.shmid == b.shmid; });
  table.segments.erase(again, table.segments.end());
  return table;
}

}  // namespace memoir
