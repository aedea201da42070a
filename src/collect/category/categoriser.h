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
  std::string rule;  // the rule's patterns and line, in words; empty if no rule matched
};

class Categoriser {
 public:
  // Errors name the rule's line: the pattern does not compile, the rule has no pattern, or the rule can never match
  // because an earlier one takes all its processes. The last error is detected by the built-in sample command lines,
  // and by equal patterns.
  static Result<Categoriser> make(const std::vector<CategoryRule>& rules);

  // Returns the first rule that matches command, exe, comm, user and cgroup of `info`, or kOtherCategory.
  const CategoryMatch& match(const ProcessInfo& info) const;
  const std::string& category(const ProcessInfo& info) const { return match(info).category; }

 private:
  struct State;
  explicit Categoriser(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Returns the built-in categories of server programs.
std::vector<CategoryRule> default_category_rules();

}  // namespace memoir
