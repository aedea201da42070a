// Build tool: prints sql.h, the files of schema/ as string constants with their lists filled in
// (store/schema/schema_text.h). Arguments: files, and names of arrays as "[NAME". A file after an array's name belongs
// to the array; a file before all of them is a constant with the name of the file.

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "store/schema/schema_text.h"

namespace {

memoir::Result<std::string> literal(const std::string& path) {
  std::ifstream file(path);
  if (!file) return memoir::Error{memoir::ErrorKind::io, "cannot open " + path};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto filled = memoir::schema_text(text);
  if (!filled) return memoir::Error{filled.error().kind, fmt::format("{}: {}", path, filled.error().message)};
  return fmt::format("R\"sql({})sql\"", *filled);
}

std::string stem(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::string(name.substr(0, name.find('.')));
}

}  // namespace

int main(int count, char** arguments) {
  fmt::print("#pragma once\n\n// Made by make_sql.cpp from schema/.\n\nnamespace memoir::sql {{\n\n");
  bool in_array = false;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument.starts_with('[')) {
      fmt::print("{}inline constexpr const char* {}[] = {{\n", in_array ? "};\n" : "", argument.substr(1));
      in_array = true;
      continue;
    }
    const auto text = literal(argument);
    if (!text) {
      fmt::print(stderr, "make_sql: {}\n", text.error().message);
      return 1;
    }
    if (in_array) {
      fmt::print("{},\n", *text);
    } else {
      fmt::print("inline constexpr const char* {} = {};\n", stem(argument), *text);
    }
  }
  fmt::print("{}\n}}  // namespace memoir::sql\n", in_array ? "};\n" : "");
  return 0;
}
