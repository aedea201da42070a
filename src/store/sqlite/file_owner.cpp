#include "store/sqlite/file_owner.h"

#include <algorithm>

#include "base/file.h"

namespace memoir {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kApplicationAt = 68;
constexpr std::string_view kApplication = "MEMR";
constexpr std::size_t kReservedAt = 72;
constexpr std::size_t kReserved = 20;
// A row of sqlite_schema stores its type, name and table name one after another. No text and no other program's file
// contains this string.
constexpr std::string_view kSchemaRow = "tableprocess_sampleprocess_sample";

}  // namespace

FileOwner owner_of(std::string_view header) {
  if (header.size() < kHeaderBytes || !header.starts_with(kMagic)) return FileOwner::unreadable;
  const std::string_view application = header.substr(kApplicationAt, kApplication.size());
  if (application == kApplication) return FileOwner::ours;
  return application == std::string_view("\0\0\0\0", 4) ? FileOwner::unclaimed : FileOwner::foreign;
}

bool was_ours(std::string_view start) {
  if (start.size() < kHeaderBytes) return false;
  const std::string_view reserved = start.substr(kReservedAt, kReserved);
  const bool zero = std::all_of(reserved.begin(), reserved.end(), [](char byte) { return byte == '\0'; });
  if (zero && start.substr(kApplicationAt, kApplication.size()) == kApplication) return true;
  return start.find(kSchemaRow) != std::string_view::npos;
}

bool is_ours_damaged(const std::string& path) {
  Buffer buffer;
  const auto start = read_start(path, kStartBytes, buffer);
  return start && was_ours(*start);
}

}  // namespace memoir
