#pragma once

// Removes secrets from command lines before any other use. Values become "[redacted]". Thread-safe.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/rules.h"

namespace memoir {

class Redactor {
 public:
  // Returns malformed, with the rule's line, for a pattern that does not compile.
  static Result<Redactor> make(const RedactionOptions& options);

  // Bytes beyond the cutoff that are searched, so that a secret that starts before it is complete.
  static constexpr std::size_t kLookAhead = 64 * 1024;

  // Returns the redacted arguments joined by a space, as valid UTF-8, truncated at `max_bytes` with a mark that
  // contains the full length. `all`: the arguments are complete.
  std::string command(const std::vector<std::string_view>& arguments, std::size_t max_bytes, bool all = true) const;

 private:
  struct State;
  explicit Redactor(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// The rules enabled by RedactionOptions::defaults; memoird --print-config lists them.
std::vector<RedactionRule> default_redaction_rules();

}  // namespace memoir
