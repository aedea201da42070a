#pragma once

// Text in the markup of a page: what would be markup, and what is not printable (base/text.h), becomes something that
// shows as itself.

#include <string>
#include <string_view>

namespace memoir::query {

// For a page and for the value of an attribute.
std::string escape_html(std::string_view text);

// For a paragraph, a heading and a cell of a table. A backslash does not help in all of them with all readers.
std::string escape_markdown(std::string_view text);

}  // namespace memoir::query
