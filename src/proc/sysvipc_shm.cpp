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

// The numbers of a row; nullopt if a column is missing or odd.
using Numbers = std::array<std::optional<std::int64_t>, kColumns>;

std::optional<std::int64_t> at(const Numbers& row, Column column) {
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

  struct Row {
    Numbers numbers{};
    bool odd = false;
  };

  Row read(std::string_view line) const {
    Row row;
    for (const Column column : columns_) {
      const std::string_view word = cut_word(line);
      if (column == Column::count_) continue;
      const auto number = read(column, word);
      row.odd |= !number;
      row.numbers[static_cast<std::size_t>(column)] = number;
    }
    return row;
  }

 private:
  // Returns the largest valid number. The kernel's types cannot represent a larger one, or a time in ms would overflow.
  static std::int64_t max_of(Column column) {
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    if (column == Column::cpid || column == Column::lpid) return std::numeric_limits<std::int32_t>::max();
    if (column == Column::uid || column == Column::cuid) return std::numeric_limits<std::uint32_t>::max();
    return column == Column::dtime ? max / 1000 : max;
  }

  static std::optional<std::int64_t> read(Column column, std::string_view word) {
    if (column == Column::key) return parse_number<std::int64_t>(word);  // some kernels print it with a sign
    if (column != Column::perms) {
      const auto number = parse_natural(word);
      return number && *number <= max_of(column) ? number : std::nullopt;
    }
    std::int64_t perms = 0;
    for (const char digit : word) {
      if (digit < '0' || digit > '7' || perms > 07777777) return std::nullopt;
      perms = perms * 8 + (digit - '0');
    }
    return word.empty() ? std::nullopt : std::optional(perms);
  }

  std::vector<Column> columns_;  // columns of the header in order; count_ for an unknown one
};

std::int64_t kib(std::int64_t bytes) {
  return bytes / 1024;
}

std::optional<std::uint32_t> uid_at(const Numbers& row, Column column) {
  const auto uid = at(row, column);
  return uid ? std::optional(static_cast<std::uint32_t>(*uid)) : std::nullopt;
}

// Returns RSS plus swap; nullopt if one of them is unknown.
std::optional<std::int64_t> bytes_of(const Numbers& row) {
  const auto rss = at(row, Column::rss);
  const auto swap = at(row, Column::swap);
  std::int64_t bytes = 0;
  return rss && swap && !__builtin_add_overflow(*rss, *swap, &bytes) ? std::optional(bytes) : std::nullopt;
}

// Returns nullopt if the number or the memory of the segment is unknown. Other odd columns are left empty.
std::optional<SysvSegment> segment_of(const Numbers& row) {
  const auto shmid = at(row, Column::shmid);
  if (!shmid || !bytes_of(row)) return std::nullopt;
  SysvSegment segment;
  segment.shmid = *shmid;
  segment.key = at(row, Column::key);
  segment.creator_pid = static_cast<std::int32_t>(at(row, Column::cpid).value_or(0));
  segment.uid = uid_at(row, Column::uid);
  segment.creator_uid = uid_at(row, Column::cuid);
  segment.size_kib.reset();
  if (const auto size = at(row, Column::size)) segment.size_kib = kib(*size);
  segment.attachments = at(row, Column::nattch);
  segment.last_pid = static_cast<std::int32_t>(at(row, Column::lpid).value_or(0));
  segment.removed.reset();
  if (const auto perms = at(row, Column::perms)) segment.removed = (*perms & kRemoved) != 0;
  segment.rss_kib = kib(*at(row, Column::rss));
  segment.swap_kib = kib(*at(row, Column::swap));
  if (const auto detached_s = at(row, Column::dtime); detached_s > 0) segment.detached_ms = *detached_s * 1000;
  return segment;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  std::int64_t total = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &total) ? std::optional(total) : std::nullopt;
}

}  // namespace

Result<SysvTable> parse_sysvipc_shm(std::string_view text, OddLines* odd) {
  KeyLine line;
  if (!next_line(text, '\n', line) || line.torn) return nothing_known("sysvipc/shm");
  const Header header(line.text);
  if (!header.has(Column::rss) || !header.has(Column::swap)) return nothing_known("sysvipc/shm");
  SysvTable table;
  std::optional<std::int64_t> bytes = 0;
  while (next_line(text, '\n', line)) {
    const Header::Row row = line.torn ? Header::Row{{}, true} : header.read(line.text);
    const auto held = bytes_of(row.numbers);
    if ((row.odd || !held) && odd != nullptr) odd->note("sysvipc/shm", "", line.text);
    bytes = sum(bytes, held);
    const auto segment = header.has_all() ? segment_of(row.numbers) : std::nullopt;
    if (segment) table.segments.push_back(*segment);
  }
  if (bytes) table.held_kib = kib(*bytes);
  std::ranges::sort(table.segments, {}, &SysvSegment::shmid);
  const auto again = std::unique(table.segments.begin(), table.segments.end(),
                                 [](const SysvSegment& a, const SysvSegment& b) { return a.shmid == b.shmid; });
  table.segments.erase(again, table.segments.end());
  return table;
}

}  // namespace memoir
