#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace memoir::test {

// Returns the bytes of a file below tests/fixtures: fixture("linux-6.18/python/status").
inline std::string fixture(const std::string& name) {
  const std::string path = std::string(MEMOIR_FIXTURES) + '/' + name;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("no fixture " + path);
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  return text.str();
}

// Returns the names of all fixtures called `file`, or of all fixtures if `file` is empty.
inline std::vector<std::string> fixtures(const std::string& file = {}) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MEMOIR_FIXTURES)) {
    if (!entry.is_regular_file() || (!file.empty() && entry.path().filename() != file)) continue;
    names.push_back(std::filesystem::relative(entry.path(), MEMOIR_FIXTURES).string());
  }
  return names;
}

}  // namespace memoir::test
