#pragma once

// Rules set by the configuration and applied by the collector. Patterns are RE2 and match anywhere in the text unless
// anchored.

#include <cstddef>
#include <string>
#include <vector>

namespace memoir {

// A category and the patterns that a process must match. All patterns that are not empty must match; at least one is
// not empty.
struct CategoryRule {
  std::string name;
  std::string command;  // matched against the redacted command line
  std::string exe;
  std::string comm;
  std::string user;
  std::string cgroup;
  std::size_t line = 0;  // line in the configuration file; 0 for a built-in rule

  bool operator==(const CategoryRule&) const = default;
};

inline constexpr const char* kOtherCategory = "other";

struct RedactionRule {
  std::string pattern;  // RE2 over a command line with one argument per line. The match of its group 1 is replaced (the
                        // full match without a group). Without a \n it stays within one argument.
  std::string program;  // RE2 over the program's base name; empty: any program
  bool next = false;    // the pattern names an option; its value, the next argument, is replaced completely
  std::string unless;   // RE2 over the match with its replaceable part; if it matches, the text is kept; empty: never
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
