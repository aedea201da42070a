#include "query/markup.h"

#include <algorithm>
#include <array>
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
  for (const char c : to_printable(to_utf8(text))) {
    const auto found = std::ranges::find(escapes, c, &Escape::letter);
    if (found == escapes.end()) {
      out += c;
    } else {
      out += found->text;
    }
  }
  return out;
}

}  // namespace

std::string escape_html(std::string_view text) {
  constexpr std::array escapes{Escape{'&', "&amp;"}, Escape{'<', "&lt;"}, Escape{'>', "&gt;"}, Escape{'"', "&quot;"},
                               Escape{'\'', "&#39;"}};
  return escaped(text, escapes);
}

std::string escape_markdown(std::string_view text) {
  constexpr std::array escapes{Escape{'&', "&amp;"}, Escape{'<', "&lt;"}, Escape{'>', "&gt;"}, Escape{'|', "&#124;"},
                               Escape{'@', "&#64;"},  // a mention
                               Escape{'\\', "\\\\"}, Escape{'`', "\\`"},  Escape{'*', "\\*"},  Escape{'_', "\\_"},
                               Escape{'[', "\\["},   Escape{']', "\\]"},  Escape{'#', "\\#"},  Escape{'~', "\\~"}};
  std::string out = escaped(text, escapes);
  // Addresses become links by themselves.
  for (std::size_t at = out.find("://"); at != std::string::npos; at = out.find("://", at)) {
    out.replace(at, 1, "&#58;");
  }
  return out;
}

}  // namespace memoir::query
