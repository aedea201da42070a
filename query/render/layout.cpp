#include "query/render/layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cwchar>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace memoir::query {
namespace {

// Names are shortened to this length before columns are dropped.
constexpr std::size_t kMinName = 24;
// Columns are dropped until this many levels of a tree fit. Names at deeper levels may be shortened to half of
// kMinName.
constexpr std::size_t kLevelsToShow = 8;

struct Glyph {
  std::size_t bytes = 1;
  std::size_t width = 1;
  wchar_t character = 0;
  bool known = false;  // the locale has a width for it
};

Glyph first_glyph(std::string_view text) {
  if (text.front() >= ' ' && text.front() <= '~') return {1, 1, static_cast<wchar_t>(text.front()), true};
  wchar_t wide = 0;
  std::mbstate_t state{};
  const std::size_t bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {};
  const int width = wcwidth(wide);
  return {bytes, width < 0 ? 1 : static_cast<std::size_t>(width), wide, width >= 0};
}

std::string escape(std::string_view bytes, wchar_t character) {
  if (bytes.size() == 1) return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
  const std::uint32_t code = static_cast<char32_t>(character);
  return code > 0xFFFF ? fmt::format("\\U{:08x}", code) : fmt::format("\\u{:04x}", code);
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const TextColumn& column : table.columns) widths.push_back(display_width(column.header));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  const std::vector<std::size_t> depths = depths_of(table.parents);
  for (std::size_t i = 0; i < depths.size(); ++i)
    widths.back() = std::max(widths.back(), kTreeStep * depths[i] + display_width(table.rows[i].back()));
  return widths;
}

// Returns the width of the branches before a tree's names, up to the level for which columns are dropped.
std::size_t width_of_branches(const TextTable& table) {
  const std::vector<std::size_t> depths = depths_of(table.parents);
  return depths.empty() ? 0 : kTreeStep * std::min(kLevelsToShow, *std::ranges::max_element(depths));
}

void drop_column(TextTable& table, std::vector<std::size_t>& widths, std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  table.columns.erase(table.columns.begin() + at);
  widths.erase(widths.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

// Continues rows with a last cell wider than `width` in further rows.
void break_last(TextTable& table, std::size_t width) {
  TextTable broken;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<std::string>& row = table.rows[i];
    const auto add = [&](std::vector<std::string> line) {
      broken.rows.push_back(std::move(line));
      if (!table.tones.empty()) broken.tones.push_back(table.tones[i]);
    };
    std::string text = wrap(row.back(), width, 0);
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      row.back() = text.substr(0, end);
      text.erase(0, end + 1);
      add(std::exchange(row, std::vector<std::string>(row.size())));
    }
    row.back() = text;
    add(std::move(row));
  }
  table.rows = std::move(broken.rows);
  table.tones = std::move(broken.tones);
}

// Returns the width of all columns but the last, with a space after each.
std::size_t width_before_last(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end() - 1, widths.size() - 1);
}

// Returns whether every row is 0 or unknown in this column.
bool tells_nothing(const TextTable& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [column](const std::vector<std::string>& row) {
    return row[column] == "0" || row[column] == "0.0" || row[column] == "0.0%" || row[column] == "–";
  });
}

// Drops empty columns to make space for the last column.
void drop_empty_columns(TextTable& table, std::vector<std::size_t>& widths, std::size_t width) {
  for (std::size_t i = table.columns.size() - 1; i-- > 0;) {
    if (width_before_last(widths) + widths.back() <= width) return;
    if (table.columns[i].drop_order > 0 && tells_nothing(table, i)) drop_column(table, widths, i);
  }
}

// Returns whether a column may be shortened: all except numbers and times, and always the last column.
bool is_name(const TextTable& table, std::size_t column) {
  return column + 1 == table.columns.size() || !table.columns[column].right;
}

// Returns the width of the table if no name is wider than `most`. Sentences that continue in the next line need only
// the minimum.
std::size_t width_with_names(const TextTable& table, const std::vector<std::size_t>& widths, std::size_t most) {
  std::size_t width = widths.size() - 1;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    std::size_t name = table.columns[i].breaks ? kMinName : most;
    if (i + 1 == widths.size()) name += width_of_branches(table);
    width += is_name(table, i) ? std::min(widths[i], name) : widths[i];
  }
  return width;
}

// Shortens all names to the same width, the largest at which they fit: a short name is never shortened for a long one.
void shorten_names(TextTable& table, std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t most = *std::max_element(widths.begin(), widths.end());
  while (most > kMinName && width_with_names(table, widths, most) > width) --most;
  for (std::size_t i = 0; i + 1 < table.columns.size(); ++i) {
    if (!is_name(table, i) || widths[i] <= most) continue;
    widths[i] = most;
    for (auto& row : table.rows) row[i] = shorten(row[i], most);
  }
}

void shorten_last(TextTable& table, std::size_t width) {
  const std::size_t name = std::min(width, kMinName / 2);
  flatten(table, std::min(kDeepestRow, (width - name) / kTreeStep));
  const std::vector<std::size_t> depths = depths_of(table.parents);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::string& last = table.rows[i].back();
    last = shorten(last, width - (depths.empty() ? 0 : kTreeStep * depths[i]));
  }
}

}  // namespace

void flatten(TextTable& table, std::size_t deepest) {
  const std::vector<std::size_t> before = depths_of(table.parents);
  table.parents = no_deeper(std::move(table.parents), deepest);
  const std::vector<std::size_t> after = depths_of(table.parents);
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] < before[i]) table.rows[i].back().insert(0, fmt::format("(+{}) ", before[i] - after[i]));
  }
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  while (!utf8.empty()) {
    const Glyph glyph = first_glyph(utf8);
    width += glyph.width;
    utf8.remove_prefix(glyph.bytes);
  }
  return width;
}

std::string showable(std::string_view utf8) {
  std::string out;
  while (!utf8.empty()) {
    const Glyph glyph = first_glyph(utf8);
    const std::string_view bytes = utf8.substr(0, glyph.bytes);
    out += glyph.known ? std::string(bytes) : escape(bytes, glyph.character);
    utf8.remove_prefix(glyph.bytes);
  }
  return out;
}

std::string shorten(std::string_view utf8, std::size_t width) {
  if (display_width(utf8) <= width) return std::string(utf8);
  if (width == 0) return {};
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < utf8.size()) {
    const Glyph glyph = first_glyph(utf8.substr(bytes));
    if (used + glyph.width > width - 1) break;
    used += glyph.width;
    bytes += glyph.bytes;
  }
  return std::string(utf8.substr(0, bytes)) + "…";
}

namespace {

// Returns whether `rest`, after a word that ends with a digit, starts with its unit: " MiB of RAM".
bool is_unit_next(std::string_view word, std::string_view rest) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "ms", "s", "min", "h", "d", "%"};
  if (word.empty() || word.back() < '0' || word.back() > '9' || !rest.starts_with(' ')) return false;
  rest.remove_prefix(1);
  return std::ranges::any_of(units, [rest](std::string_view unit) {
    const std::string_view after = rest.substr(std::min(unit.size(), rest.size()));
    return rest.starts_with(unit) &&
           (after.empty() || std::string_view(" .,;:)/").find(after.front()) != std::string_view::npos);
  });
}

}  // namespace

std::string wrap(std::string_view utf8, std::size_t width, std::size_t hang) {
  if (display_width(utf8) <= width) return std::string(utf8);
  const std::size_t indent = std::min(utf8.find_first_not_of(' '), utf8.size());
  std::string out(utf8.substr(0, indent));
  std::size_t column = indent;
  bool begun = false;  // this line has a word
  for (utf8.remove_prefix(indent); !utf8.empty();) {
    std::size_t space = std::min(utf8.find(' ', 1), utf8.size());  // the space before a word belongs to it
    if (is_unit_next(utf8.substr(0, space), utf8.substr(space)))
      space = std::min(utf8.find(' ', space + 1), utf8.size());
    std::string_view word = utf8.substr(0, space);
    utf8.remove_prefix(space);
    if (begun && column + display_width(word) > width) {
      word.remove_prefix(1);
      out += "\n" + std::string(hang, ' ');
      column = hang;
    }
    out += word;
    column += display_width(word);
    begun = true;
  }
  return out;
}

std::string keep_units(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool keeps = text[at] == ' ' && is_unit_next(text.substr(0, at), text.substr(at));
    out += keeps ? std::string_view("\u00A0") : text.substr(at, 1);
  }
  return out;
}

void fit(TextTable& table, std::size_t width) {
  if (table.columns.empty()) return;
  std::vector<std::size_t> widths = column_widths(table);
  drop_empty_columns(table, widths, width);
  while (width_with_names(table, widths, kMinName) > width) {
    const auto least = std::ranges::max_element(table.columns, {}, &TextColumn::drop_order);
    if (least->drop_order == 0) break;
    drop_column(table, widths, static_cast<std::size_t>(least - table.columns.begin()));
  }
  shorten_names(table, widths, width);
  const std::size_t before = width_before_last(widths);
  const std::size_t left = std::max<std::size_t>(width > before ? width - before : 0, 1);
  table.columns.back().header = shorten(table.columns.back().header, left);
  if (table.columns.back().breaks) return break_last(table, left);
  shorten_last(table, left);
}

LabelledLine split_label(std::string_view line) {
  constexpr std::size_t longest_label = 12;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  const std::size_t text = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (text == std::string_view::npos || text > begin + longest_label) return {{}, line.substr(begin)};
  return {line.substr(begin, gap - begin), line.substr(text)};
}

}  // namespace memoir::query
