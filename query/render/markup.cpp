#include "query/render/markup.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "base/text.h"

namespace memoir::query {
namespace {

struct Escape {
  char letter;
  std::string_view text;
};

std::string escaped(std::string_view text, std::span<const Escape> escapes) {
  std::string out;
  for (const char c : to_printable(text)) {
    const auto found = std::ranges::find(escapes, c, &Escape::letter);
    out += found == escapes.end() ? std::string_view(&c, 1) : found->text;
  }
  return out;
}

// Replaces the letter at index `at` of each `mark` (in upper or lower case) by its entity, which is displayed the same.
void break_links(std::string& text, std::string_view mark, std::size_t at, std::string_view entity) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (auto from = text.begin();;) {
    const auto found = std::search(from, text.end(), mark.begin(), mark.end(), same);
    if (found == text.end()) return;
    const auto letter = static_cast<std::size_t>(found - text.begin()) + at;
    text.replace(letter, 1, entity);
    from = text.begin() + static_cast<std::ptrdiff_t>(letter);
  }
}

}  // namespace

std::string escape_html(std::string_view text) {
  constexpr std::array escapes{Escape{'&', "&amp;"}, Escape{'<', "&lt;"}, Escape{'>', "&gt;"}, Escape{'"', "&quot;"},
                               Escape{'\'', "&#39;"}};
  return escaped(text, escapes);
}

std::string escape_markdown(std::string_view text) {
  constexpr std::array escapes{Escape{'&', "&amp;"}, Escape{'<', "&lt;"}, Escape{'>', "&gt;"}, Escape{'|', "&#124;"},
                               Escape{'@', "&#64;"},  // issue trackers read it as a mention
                               Escape{'\\', "\\\\"}, Escape{'`', "\\`"},  Escape{'*', "\\*"},  Escape{'_', "\\_"},
                               Escape{'[', "\\["},   Escape{']', "\\]"},  Escape{'#', "\\#"},  Escape{'~', "\\~"}};
  std::string out = escaped(text, escapes);
  // Addresses become links automatically: "http://…", "www.…", "mailto:…".
  break_links(out, "://", 0, "&#58;");
  break_links(out, "www.", 3, "&#46;");
  break_links(out, "mailto:", 6, "&#58;");
  break_links(out, "xmpp:", 4, "&#58;");
  return out;
}

}  // namespace memoir::query
