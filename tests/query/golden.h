#pragma once

#include <string>

namespace memoir::test {

// Checks `text` against tests/query/golden/NAME. With MEMOIR_UPDATE_GOLDEN set the file is written anew; read the
// difference before it is committed.
void compare_with_golden(const std::string& name, const std::string& text);

}  // namespace memoir::test
