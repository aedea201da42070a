#pragma once

// Rules that the configuration sets and the collector applies. Patterns are RE2 and match anywhere in the text unless
// anchored.

#include <cstddef>
#include <string>
#include <vector>

namespace memoir {

// A category and what puts a process into it. All patterns given must match; an empty one is not given. At least one is
// given.
struct CategoryRule {
  std::string name;
  std::string command;  // on the redacted command line
  std::string exe;
  std::string comm;
  std::string user;
  std::string cgroup;
  std::size_t line = 0;  // of the configuration file; 0 for a built-in rule

  bool operator==(const CategoryRule&) const = default;
};

inline constexpr const char* kOtherCategory = "other";

struct RedactionRule {
  std::string pattern;  // RE2 over a command line with one argument per line: what its group 1 matches is replaced (all
                        // of the match, if it has no group). Without a \n in it, it stays within one argument.
  std::string program;  // RE2 over the program's base name; empty: any program
  bool next = false;    // the pattern names an option whose value is the next argument: that is replaced as a whole
  std::string unless;   // RE2 over the match, with what would be replaced: then it is kept; empty: never
  std::size_t line = 0;

  bool operator==(const RedactionRule&) const = default;
};

struct RedactionOptions {
  bool defaults = true;         // the built-in rules come first
  bool drop_arguments = false;  // keep the program only
  std::vector<RedactionRule> rules;

  bool operator==(const RedactionOptions&) const = default;
};

}  // namespace memoir
