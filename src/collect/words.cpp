#include "collect/words.h"

#include <algorithm>

namespace memoir {

std::string_view cut_gap(std::string_view& line) {
  const std::string_view gap = line.substr(0, std::min(line.find_first_not_of(kBlanks), line.size()));
  line.remove_prefix(gap.size());
  return gap;
}

std::string_view cut_quoted_word(std::string_view& line) {
  std::size_t end = 0;
  bool quotes = true;  // until one is found that does not close
  while (end < line.size() && kBlanks.find(line[end]) == std::string_view::npos) {
    if (quotes && (line[end] == '"' || line[end] == '\'')) {
      const std::size_t close = line.find(line[end], end + 1);
      quotes = close != std::string_view::npos;
      if (quotes) end = close;
    }
    ++end;
  }
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

bool is_quoted(std::string_view word) {
  return word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
}

}  // namespace memoir
