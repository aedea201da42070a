#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "query/render/layout.h"
#include "query/view/draw.h"
#include "query/view/keys.h"
#include "query/view/lines.h"

namespace memoir::query::view {
namespace {

void draw_menu(CellGrid& grid, const Model& model, const Layout& layout) {
  const Menu& menu = *model.menu;
  std::size_t width = display_width(menu.title);
  for (const std::string& choice : menu.choices) width = std::max(width, display_width(choice));
  const std::size_t height = std::min(layout.page_lines > 1 ? layout.page_lines - 1 : 1, menu.choices.size());
  const std::size_t top = menu.selected >= height ? menu.selected + 1 - height : 0;
  const std::size_t left = 2;
  grid.clear(layout.page_line, left, width + 4);
  grid.put(layout.page_line, left + 1, menu.title, {Tone::marked});
  for (std::size_t i = 0; i < height; ++i) {
    const std::size_t line = layout.page_line + 1 + i;
    grid.clear(line, left, width + 4);
    const bool chosen = top + i == menu.selected;
    grid.put(line, left + 1, fmt::format("{} {}", chosen ? ">" : " ", menu.choices[top + i]));
    if (!chosen) continue;
    grid.paint(line, left, width + 4, {Tone::plain, true});
    grid.set_cursor(line);
  }
}

// Draws lines over the page, and over the bar if there are many.
void draw_lines(CellGrid& grid, const Layout& layout, const std::vector<std::string>& left,
                const std::vector<std::string>& right) {
  const std::size_t height = std::max(left.size(), right.size());
  std::size_t first = layout.page_line;
  while (first > 1 && first + height > layout.status_line) --first;
  for (std::size_t line = first; line < layout.status_line; ++line) {
    grid.clear(line, 0, grid.columns());
    const std::size_t at = line - first;
    const auto tone = [](const std::string& text) { return text.starts_with(' ') ? Tone::plain : Tone::marked; };
    if (at < left.size()) grid.put(line, 1, left[at], {tone(left[at])});
    if (at < right.size()) grid.put(line, grid.columns() / 2, right[at], {tone(right[at])});
  }
}

void draw_help(CellGrid& grid, const Model& model, const Layout& layout) {
  constexpr std::array titles{"TIME", "PAGES", "ROWS", "ANSWERS"};
  std::vector<std::string> left;
  std::vector<std::string> right;
  std::size_t section = titles.size();
  for (const KeyRow& row : key_table()) {
    const auto now = static_cast<std::size_t>(row.section);
    std::vector<std::string>& lines = now == 0 ? left : right;
    if (now != section) lines.emplace_back(titles.at(now));
    section = now;
    std::string shown(row.shown);
    if (model.setup.ascii && (shown.find("←") != std::string::npos || shown.find("↓") != std::string::npos))
      shown = row.keys;
    const std::size_t width = display_width(shown);
    lines.push_back(fmt::format(" {}{} {}", shown, std::string(width < 10 ? 10 - width : 0, ' '), row.help));
  }
  if (grid.columns() < 76) {
    left.insert(left.end(), right.begin(), right.end());
    right.clear();
  }
  draw_lines(grid, layout, left, right);
}

}  // namespace

void draw_overlays(CellGrid& grid, const Model& model, const Layout& layout) {
  if (model.menu) draw_menu(grid, model, layout);
  if (model.help) draw_help(grid, model, layout);
  if (model.whole_row) draw_lines(grid, layout, whole_row(model, grid.columns() - 2), {});
}

}  // namespace memoir::query::view
