#pragma once

// Removes secrets from names that users choose: paths of folders, files and cgroups, which include names of units. Each
// component is redacted as an argument of its own. Thread-safe.

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collect/redact/redactor.h"
#include "model/tick.h"

namespace memoir {

class NameRedactor {
 public:
  explicit NameRedactor(Redactor redactor) : redactor_(std::move(redactor)) {}

  // Returns the path unchanged if it has no secret. If too many new names came since redact(), the rules are not
  // applied to further names: a name with "=" then loses all text after it, and other names stay.
  std::string path(std::string_view path);

  // Redacts the names in a tick that did not come from path().
  void redact(Tick& tick);

 private:
  // Limits the memory of cached results. They are cached because components repeat.
  static constexpr std::size_t kMaxKnown = 1024;
  // Limits the CPU time of new components between two calls of redact(): about 0.4 µs per byte.
  static constexpr std::size_t kMaxSearchedBytes = 256 * 1024;

  std::string component(const std::string& name);
  std::string redacted(const std::string& name) const;

  const Redactor redactor_;
  std::mutex mutex_;  // protects the following members
  std::unordered_map<std::string, std::string> known_;
  std::size_t searched_bytes_ = 0;  // bytes of new components since the last redact()
};

}  // namespace memoir
