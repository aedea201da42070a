#include "collect/redact/unfold.h"

#include <algorithm>
#include <vector>

namespace memoir {
namespace {

bool is_blank(char c) {
  return kBlanks.find(c) != std::string_view::npos;
}

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

// Returns the position of the quote that closes the one at `open`; npos if there is none. In double quotes a backslash
// escapes the next character.
std::size_t closing_quote(std::string_view line, std::size_t open) {
  for (std::size_t i = open + 1; i < line.size(); ++i) {
    if (line[i] == line[open]) return i;
    if (line[i] == '\\' && line[open] == '"') i = line.find_first_not_of(kFiller, i + 1);
    if (i == std::string_view::npos) break;
  }
  return std::string_view::npos;
}

struct Quotes {
  std::size_t open;
  std::size_t close;
};

struct Shape {
  std::vector<std::size_t> blanks;  // positions of blanks outside of quotes
  std::vector<Quotes> quotes;
  std::vector<std::size_t> escapes;  // positions of backslashes before a quote, outside of quotes
};

Shape shape_of(std::string_view line) {
  Shape shape;
  bool single = true;  // false after the first unclosed single quote; `twin`: the same for double quotes
  bool twin = true;
  for (std::size_t i = 0; i < line.size(); ++i) {
    bool& closes = line[i] == '"' ? twin : single;
    if (is_blank(line[i])) {
      shape.blanks.push_back(i);
    } else if (line[i] == '\\' && i + 1 < line.size() && is_quote(line[i + 1])) {
      shape.escapes.push_back(i++);
    } else if (is_quote(line[i]) && closes) {
      const std::size_t close = closing_quote(line, i);
      closes = close != std::string_view::npos;
      if (!closes) continue;
      shape.quotes.push_back({i, close});
      i = close;
    }
  }
  return shape;
}

// Returns the position of the first of the fillers directly before `at`.
std::size_t without_fillers(std::string_view text, std::size_t at, std::size_t begin) {
  while (at > begin && text[at - 1] == kFiller) --at;
  return at;
}

std::ptrdiff_t as_offset(std::size_t at) {
  return static_cast<std::ptrdiff_t>(at);
}

// Moves the text between two quotes to its own line, and replaces its escapes by fillers.
void open_quotes(std::string& view, std::size_t begin, const Quotes& quotes) {
  for (std::size_t i = begin + quotes.open + 1; view[begin + quotes.open] == '"' && i < begin + quotes.close; ++i) {
    if (view[i] != '\\') continue;
    const std::size_t next = view.find_first_not_of(kFiller, i + 1);
    if (next >= begin + quotes.close) break;
    if (view[next] == '"' || view[next] == '\\') view[i] = kFiller;
    i = next;
  }
  std::fill(view.begin() + as_offset(without_fillers(view, begin + quotes.open, begin)),
            view.begin() + as_offset(begin + quotes.open + 1), '\n');
  std::fill(view.begin() + as_offset(without_fillers(view, begin + quotes.close, begin)),
            view.begin() + as_offset(begin + quotes.close + 1), '\n');
}

bool unfold_line(std::string& view, std::size_t begin, std::size_t end) {
  const std::string_view line = std::string_view(view).substr(begin, end - begin);
  if (line.find_first_of(kBlanks) == std::string_view::npos) return false;
  const Shape shape = shape_of(line);
  if (shape.blanks.empty() && shape.quotes.empty()) {
    for (const std::size_t at : shape.escapes) view[begin + at] = kFiller;
    return !shape.escapes.empty();
  }
  const std::string before(line);
  for (const std::size_t at : shape.blanks) view[begin + at] = '\n';
  const auto begins_word = [&](std::size_t at) {
    const std::size_t first = without_fillers(before, at, 0);
    return first == 0 || is_blank(before[first - 1]);
  };
  const auto ends_word = [&](std::size_t at) { return at >= before.size() || is_blank(before[at]); };
  for (const Quotes& quotes : shape.quotes) {
    const bool whole = begins_word(quotes.open) && ends_word(quotes.close + 1);
    if (whole || shape.blanks.empty()) open_quotes(view, begin, quotes);
  }
  for (const std::size_t at : shape.escapes) {
    if (shape.blanks.empty()) view[begin + at] = kFiller;
  }
  return true;
}

}  // namespace

bool unfold(std::string& view) {
  bool opened = false;
  for (std::size_t begin = 0; begin < view.size();) {
    const std::size_t end = std::min(view.find('\n', begin), view.size());
    opened = unfold_line(view, begin, end) || opened;
    begin = end + 1;
  }
  return opened;
}

}  // namespace memoir
