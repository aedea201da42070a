#pragma once

// Command lines as servers run them. Rules are checked against them at load: one whose samples are all taken by earlier
// rules would never match. A category that gets a rule gets samples here too.

#include <span>
#include <string_view>

namespace memoir {

struct CategorySampleLine {
  std::string_view category;  // what the default rules make of it
  std::string_view comm;
  std::string_view exe;
  std::string_view command;
};

std::span<const CategorySampleLine> category_samples();

}  // namespace memoir
