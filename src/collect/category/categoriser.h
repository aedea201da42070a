#pragma once

// Finds the category of a process: the first matching rule wins, `other` comes last. All patterns are matched in one
// pass (RE2::Set), in linear time on hostile command lines.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/process.h"
#include "model/rules.h"

namespace memoir {

struct CategoryMatch {
  std::string category;
  std::string rule;  // patterns and line of the rule, in words; empty if none matched
};

class Categoriser {
 public:
  // Errors name the rule's line: a pattern that does not compile, a rule without a pattern, or a rule that can never
  // match because an earlier one takes all its processes. The latter is found by the built-in sample command lines, and
  // by equal patterns.
  static Result<Categoriser> make(const std::vector<CategoryRule>& rules);

  // Returns the first rule that matches command, exe, comm, user and cgroup of `info`, or kOtherCategory.
  const CategoryMatch& match(const ProcessInfo& info) const;
  const std::string& category(const ProcessInfo& info) const { return match(info).category; }

 private:
  struct State;
  explicit Categoriser(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Built-in categories for a server.
std::vector<CategoryRule> default_category_rules();

}  // namespace memoir
