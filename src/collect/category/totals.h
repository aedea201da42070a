#pragma once

// Sums a tick's processes by category. A category is looked up by name once, when a process is classified; later ticks
// use its slot.

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/tick.h"

namespace memoir {

class CategoryTotals {
 public:
  std::size_t slot(std::string_view category);

  void clear();
  void add(std::size_t slot, const ProcessSample& sample);

  // Returns all categories that have ever had a process, by slot.
  const std::vector<CategorySample>& by_slot() const { return by_slot_; }

  // Returns the categories with a process, sorted by name.
  std::vector<CategorySample> samples() const;

 private:
  std::vector<CategorySample> by_slot_;
};

}  // namespace memoir
