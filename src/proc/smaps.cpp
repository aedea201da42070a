#include "proc/smaps.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <utility>

namespace memoir {
namespace {

constexpr std::string_view kNewline = "\\012";

// Room for a path of PATH_MAX newlines and the text before it.
constexpr std::size_t kLongestLine = kNewline.size() * PATH_MAX + 256;

// Removes a number and the following separator from the front of `text`.
template <typename Int>
bool take_number(std::string_view& text, int base, char separator, Int& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop == end || *stop != separator) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  return true;
}

bool take_permissions(std::string_view& text, std::string& permissions) {
  if (text.size() < 5 || text[4] != ' ' || (text[3] != 'p' && text[3] != 's')) return false;
  permissions = text.substr(0, 4);
  text.remove_prefix(5);
  return true;
}

void undo_newlines(std::string_view escaped, std::string& path) {
  path.clear();
  for (std::size_t at = escaped.find(kNewline); at != std::string_view::npos; at = escaped.find(kNewline)) {
    path += escaped.substr(0, at);
    path += '\n';
    escaped.remove_prefix(at + kNewline.size());
  }
  path += escaped;
}

// The line of a field starts with a capital letter, the line of a region with a lower-case hexadecimal address.
bool is_region(std::string_view line) {
  const std::size_t dash = line.find_first_not_of("0123456789abcdef");
  return dash > 0 && dash < line.size() && line[dash] == '-';
}

}  // namespace

Status SmapsParser::add(std::string_view piece) {
  if (!torn_.empty()) {
    const std::size_t newline = piece.find('\n');
    const std::size_t rest = newline == std::string_view::npos ? piece.size() : newline + 1;
    torn_ += piece.substr(0, rest);
    piece.remove_prefix(rest);
    if (torn_.ends_with('\n')) {
      TRY(read_lines(torn_));
      torn_.clear();
    }
  }
  const std::size_t whole = piece.rfind('\n') + 1;  // 0 without a newline
  TRY(read_lines(piece.substr(0, whole)));
  torn_ += piece.substr(whole);
  if (torn_.size() > kLongestLine) return bad_line("smaps", torn_);
  return Done{};
}

Status SmapsParser::finish() {
  if (!torn_.empty()) return bad_line("smaps", torn_);
  if (!any_line_) return Error{ErrorKind::not_found, "smaps: empty, the process has no memory any more"};
  if (in_region_) on_region_(region_);
  if (!any_value_) return nothing_known("smaps");
  return Done{};
}

Status SmapsParser::read_lines(std::string_view text) {
  KeyLine line;
  any_line_ = any_line_ || !text.empty();
  while (!text.empty()) {
    if (take_zero(text)) continue;
    next_line(text, ':', line);
    if (line.text.size() > kLongestLine) return bad_line("smaps", line.text);
    read_line(line);
  }
  return Done{};
}

bool SmapsParser::take_zero(std::string_view& text) {
  const auto& zero = zeros_[cursor_.next()];
  const bool known = zero.back() == '\n';
  if (!known || text.size() < zero.size() || std::memcmp(text.data(), zero.data(), zero.size()) != 0) return false;
  if (seen_[cursor_.next()] || !in_region_) return false;
  text.remove_prefix(zero.size());
  seen_[cursor_.next()] = true;
  region_.memory.set(static_cast<ProcessField>(cursor_.next()), 0);
  cursor_.pass();
  return true;
}

void SmapsParser::read_line(const KeyLine& line) {
  if (is_region(line.text)) return read_region(line.text);
  const auto field = cursor_.find(line.key);
  if (!field) return;
  const auto kib = line.kib();
  if (kib == 0) keep_zero(line.text);
  const bool again = std::exchange(seen_[*field], true);
  if (!in_region_) return;
  const bool good = kib && !again;
  region_.memory.set(static_cast<ProcessField>(*field), good ? kib : std::nullopt);
  any_value_ = any_value_ || good;
  if (!good) note_odd(line);
}

// Keeps a line with value 0. The line is complete, because its value could be parsed, so its newline follows in the
// text.
void SmapsParser::keep_zero(std::string_view line) {
  auto& zero = zeros_[cursor_.last()];
  if (line.size() + 1 == zero.size()) std::memcpy(zero.data(), line.data(), zero.size());
}

void SmapsParser::read_region(std::string_view line) {
  if (in_region_) on_region_(region_);
  clear_fields<0, kRollupFields>(region_.memory);
  seen_.fill(false);
  in_region_ = parse_region(line);
  if (!in_region_) note_odd({.text = line, .key = {}, .value = {}});
}

bool SmapsParser::parse_region(std::string_view line) {
  const bool whole = take_number(line, 16, '-', region_.start) && take_number(line, 16, ' ', region_.end) &&
                     region_.start <= region_.end && take_permissions(line, region_.permissions) &&
                     take_number(line, 16, ' ', region_.offset) && take_number(line, 16, ':', region_.major) &&
                     take_number(line, 16, ' ', region_.minor) && take_number(line, 10, ' ', region_.inode);
  if (!whole) return false;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  undo_newlines(line, region_.path);
  return region_.path.size() <= PATH_MAX;
}

void SmapsParser::note_odd(const KeyLine& line) {
  if (odd_ != nullptr) odd_->note("smaps", line.key, line.text);
}

}  // namespace memoir
