#pragma once

// Fills in the parts of schema/*.sql that follow from lists in C++. `@name@` is such a part; the text from
// "@for each tier@" to "@end@" is repeated for each tier of rollups. `utc(x)` is a time in ms as text.

#include <string>
#include <string_view>

#include "base/result.h"

namespace memoir {

// Fails on an unknown name.
Result<std::string> schema_text(std::string_view text);

}  // namespace memoir
