#pragma once

// Finds the category of a process: ordered rules, the first that matches wins, `other` last. All patterns are tried in
// one pass (RE2::Set): linear time on hostile command lines.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/process.h"
#include "model/rules.h"

namespace memoir {

class Categoriser {
 public:
  // Errors name the rule's line: a pattern that does not compile, a rule without a pattern, a rule that can never match
  // because an earlier one takes everything it could take (as far as the built-in samples of command lines show, and by
  // equal patterns).
  static Result<Categoriser> make(const std::vector<CategoryRule>& rules);

  // The name of the first rule that matches command, exe, comm, user and cgroup of `info`, or kOtherCategory.
  const std::string& category(const ProcessInfo& info) const;

 private:
  struct State;
  explicit Categoriser(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Sensible categories for a server.
std::vector<CategoryRule> default_category_rules();

}  // namespace memoir
