#pragma once

// Escapes text for the markup of a page: markup and unprintable characters (base/text.h) become visible text.

#include <string>
#include <string_view>

namespace memoir::query {

// Escapes text for a page or for the value of an attribute.
std::string escape_html(std::string_view text);

// Escapes Markdown in a paragraph, a heading or a table cell. Entities replace the special characters, because not
// every viewer understands backslashes in all three.
std::string escape_markdown(std::string_view text);

}  // namespace memoir::query
