#pragma once

// Replaces secrets in command lines by "[redacted]", before any other use of them. Thread-safe.

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
  // Returns a malformed error, with the rule's line, if a pattern does not compile.
  static Result<Redactor> make(const RedactionOptions& options);

  // Number of bytes that are searched beyond the point of truncation, so that a secret that starts before that point is
  // found as a whole.
  static constexpr std::size_t kLookAhead = 64 * 1024;

  // Returns the redacted arguments, joined by spaces, as valid UTF-8. A longer text is truncated at `max_bytes`, and a
  // suffix with the full length is added. `all`: the arguments are complete.
  std::string command(const std::vector<std::string_view>& arguments, std::size_t max_bytes, bool all = true) const;
  // Redacts a text that is no command line, such as a file's name, as a single argument.
  std::string text(std::string_view text) const { return redacted({text}, kLookAhead, true); }

 private:
  struct State;
  std::string redacted(const std::vector<std::string_view>& arguments, std::size_t max_bytes, bool all) const;
  explicit Redactor(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Returns the rules enabled by RedactionOptions::defaults; memoird --print-config lists them.
std::vector<RedactionRule> default_redaction_rules();

}  // namespace memoir
