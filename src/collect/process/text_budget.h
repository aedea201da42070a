#pragma once

// Limits the memory of the texts of live processes: command lines, paths, settings. If the share of a user or of all
// users is exceeded, a process keeps only its program's path and the start of its command line. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collect/process/process_entry.h"

namespace memoir {

// Suffix of a command line that was truncated because of this budget.
inline constexpr const char* kTextShortened = " …[cut: too many long texts]";

// Returns a path of at most 512 bytes: unchanged, or its longest prefix of whole components, followed by a digest of
// the full path.
std::string bounded_path(std::string_view path);

class TextBudget {
 public:
  static constexpr std::int64_t kMaxOfUser = 2LL << 20;
  static constexpr std::int64_t kMaxOfAll = 8LL << 20;  // for all users except root; root has its own 8 MiB
  static constexpr std::size_t kShortText = 128;

  void begin_tick();

  // Truncates `info`, which replaces `before` (nullptr: a new process) in `entries`, if it exceeds the budget.
  void fit(ProcessInfo& info, const ProcessInfo* before, const Entries& entries);

  // Returns the number of processes whose texts were truncated since begin_tick(). shortened_user() names one of their
  // users.
  std::size_t shortened() const { return shortened_; }
  const std::string& shortened_user() const { return shortened_user_; }

 private:
  void count(const Entries& entries);
  void add(std::uint32_t uid, std::int64_t bytes);

  bool counted_ = false;  // whether the texts were counted in this tick
  std::unordered_map<std::uint32_t, std::int64_t> of_user_;
  std::int64_t of_all_ = 0;  // sum over all users except root, each up to its share
  std::size_t shortened_ = 0;
  std::string shortened_user_;
};

}  // namespace memoir
