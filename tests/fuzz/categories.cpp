#include <algorithm>
#include <vector>

#include "collect/category/categoriser.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace memoir::fuzz {
namespace {

std::string word(std::string_view& text) {
  return std::string(cut(text, '\t'));
}

CategoryRule rule_of(std::string_view line, std::size_t number) {
  CategoryRule rule;
  rule.name = "rule" + std::to_string(number);
  rule.command = word(line);
  rule.exe = word(line);
  rule.comm = word(line);
  rule.user = word(line);
  rule.cgroup = word(line);
  rule.line = number;
  return rule;
}

ProcessInfo info_of(std::string_view line) {
  ProcessInfo info;
  info.command = word(line);
  info.exe = word(line);
  info.comm = word(line);
  info.user = word(line);
  info.cgroup = word(line);
  return info;
}

struct Alone {
  std::string name;
  Categoriser categoriser;
};

std::vector<Alone> each_alone(const std::vector<CategoryRule>& rules) {
  std::vector<Alone> alone;
  for (const CategoryRule& rule : rules) {
    auto categoriser = Categoriser::make({rule});
    require(categoriser.ok(), "a rule that is valid among others is valid alone");
    alone.push_back({rule.name, *std::move(categoriser)});
  }
  return alone;
}

// Checks that a rule among others matches the same processes as the rule alone, unless an earlier rule matches.
void require_first(const std::vector<Alone>& rules, const ProcessInfo& info, const std::string& category) {
  for (const Alone& rule : rules) {
    const bool takes = rule.categoriser.category(info) == rule.name;
    require(takes == (category == rule.name), "the first rule that matches wins");
    if (takes) return;
  }
  require(category == kOtherCategory, "a process that no rule matches is in the category other");
}

}  // namespace

// The text consists of up to three lines of rules with their patterns between tabs, and of processes with their texts
// between tabs.
void categories(std::string_view text) {
  static const auto built_in = Categoriser::make(default_category_rules());
  std::vector<CategoryRule> rules;
  while (!text.empty() && rules.size() < 3) rules.push_back(rule_of(cut_line(text), rules.size() + 1));
  const auto categoriser = Categoriser::make(rules);
  if (!categoriser) require(categoriser.error().kind == ErrorKind::malformed, "the error's kind");
  const std::vector<Alone> alone = categoriser ? each_alone(rules) : std::vector<Alone>();
  for (int line = 0; line < 4 && !text.empty(); ++line) {
    const ProcessInfo info = info_of(cut_line(text));
    require(!built_in->category(info).empty(), "each process has a category");
    if (categoriser) require_first(alone, info, categoriser->category(info));
  }
}

}  // namespace memoir::fuzz
