#pragma once

// Two periods that are compared (--against), and the coverage of both.

#include <vector>

#include "query/report/report.h"

namespace memoir::query {

struct ComparedPeriod {
  const char* name;  // "before", "after"
  Range range;
  Tier tier = {};
  Coverage coverage = {};
};

Section periods_section(const std::vector<ComparedPeriod>& periods);

}  // namespace memoir::query
