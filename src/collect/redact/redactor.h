#pragma once

// Takes secrets out of command lines before anything else sees them. Values become "[redacted]". Safe from several
// threads.

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
  // A pattern that does not compile: malformed, naming the rule's line.
  static Result<Redactor> make(const RedactionOptions& options);

  // How far beyond the cut a command line is looked at, so that a secret that begins before the cut is seen whole.
  static constexpr std::size_t kLookAhead = 64 * 1024;

  // The arguments, redacted, joined by a space, as valid UTF-8, cut at `max_bytes` with a mark that says how long it
  // was; `all`: there were no more arguments than these.
  std::string command(const std::vector<std::string_view>& arguments, std::size_t max_bytes, bool all = true) const;

 private:
  struct State;
  explicit Redactor(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// The rules that RedactionOptions::defaults stands for; memoird --print-config lists them.
std::vector<RedactionRule> default_redaction_rules();

}  // namespace memoir
