#include "query/view/grid.h"

#include <algorithm>

#include "query/render/layout.h"

namespace memoir::query::view {
namespace {

std::size_t bytes_of_character(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) ++bytes;
  return bytes;
}

void trim_right(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

CellGrid::CellGrid(Screen screen) : columns_(screen.columns), cells_(screen.lines, std::vector<Cell>(screen.columns)) {}

std::size_t CellGrid::put(std::size_t line, std::size_t column, std::string_view text, Style style) {
  if (line >= cells_.size()) return column;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, bytes_of_character(text));
    text.remove_prefix(character.size());
    const std::size_t width = display_width(character);
    if (width == 0) {  // combines with the character before it
      if (column > 0 && column <= columns_) cells_[line][column - 1].utf8 += character;
      continue;
    }
    if (column + width > columns_) break;
    cells_[line][column] = {std::string(character), style};
    for (std::size_t i = 1; i < width; ++i) cells_[line][column + i] = {std::string(), style};
    column += width;
  }
  return column;
}

void CellGrid::put_right(std::size_t line, std::string_view text, Style style) {
  const std::size_t width = display_width(text);
  put(line, columns_ > width ? columns_ - width : 0, text, style);
}

void CellGrid::paint(std::size_t line, std::size_t column, std::size_t count, Style style) {
  if (line >= cells_.size()) return;
  for (std::size_t i = column; i < std::min(column + count, columns_); ++i) cells_[line][i].style = style;
}

void CellGrid::replace(std::string_view text, std::string_view by) {
  for (auto& line : cells_) {
    for (Cell& cell : line) {
      if (cell.utf8 == text) cell.utf8 = by;
    }
  }
}

void CellGrid::clear(std::size_t line, std::size_t column, std::size_t count) {
  if (line >= cells_.size()) return;
  for (std::size_t i = column; i < std::min(column + count, columns_); ++i) cells_[line][i] = {};
}

std::string CellGrid::text() const {
  std::string out;
  for (const auto& line : cells_) {
    std::string text;
    for (const Cell& cell : line) text += cell.utf8;
    trim_right(text);
    out += text + "\n";
  }
  return out;
}

std::string CellGrid::styles() const {
  std::string out;
  for (const auto& line : cells_) {
    std::string text;
    for (const Cell& cell : line) {
      const Style& style = cell.style;
      text += style.reverse                 ? 'R'
              : style.tone == Tone::problem ? 'p'
              : style.tone == Tone::warning ? 'w'
              : style.tone == Tone::marked  ? 'b'
              : style.dim                   ? 'd'
                                            : ' ';
    }
    trim_right(text);
    out += text + "\n";
  }
  return out;
}

}  // namespace memoir::query::view
