#pragma once

// Command lines as found on servers. Rules are checked against them when they are loaded: a rule can never match if
// earlier rules take all its samples. Each category with built-in rules needs samples here.

#include <span>
#include <string_view>

namespace memoir {

struct CategorySampleLine {
  std::string_view category;  // expected result of the built-in rules
  std::string_view comm;
  std::string_view exe;
  std::string_view command;
};

std::span<const CategorySampleLine> category_samples();

}  // namespace memoir
