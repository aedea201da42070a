#pragma once

// Command lines as found on servers. Rules are checked against them at load: a rule would never match if earlier rules
// take all its samples. A category with a rule needs samples here, too.

#include <span>
#include <string_view>

namespace memoir {

struct CategorySampleLine {
  std::string_view category;  // result of the default rules
  std::string_view comm;
  std::string_view exe;
  std::string_view command;
};

std::span<const CategorySampleLine> category_samples();

}  // namespace memoir
