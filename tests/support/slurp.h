#pragma once

// Returns all bytes of a file; empty if it cannot be read.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace memoir::test {

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace memoir::test
