#include "collect/category/totals.h"

#include <algorithm>

namespace memoir {

std::size_t CategoryTotals::slot(std::string_view category) {
  const auto found = std::ranges::find(by_slot_, category, &CategorySample::category);
  const auto index = static_cast<std::size_t>(found - by_slot_.begin());
  if (found == by_slot_.end()) by_slot_.emplace_back().category = category;
  return index;
}

void CategoryTotals::clear() {
  for (CategorySample& sample : by_slot_) sample = CategorySample{.category = std::move(sample.category)};
}

void CategoryTotals::add(std::size_t slot, const ProcessSample& sample) {
  CategorySample& total = by_slot_[slot];
  ++total.processes;
  if (!is_known(sample.source) || !sample.memory.has(ProcessField::pss)) ++total.inexact;
  total.rss_kib += sample.memory.or_zero(ProcessField::rss);
  total.pss_kib += sample.memory.or_zero(ProcessField::pss);
  total.uss_kib += uss_kib(sample.memory).value_or(0);
  total.swap_kib += sample.memory.or_zero(ProcessField::swap);
  total.swap_pss_kib += sample.memory.or_zero(ProcessField::swap_pss);
  total.shared_swap_kib += sample.memory.or_zero(ProcessField::shared_swap);
  total.hugetlb_kib += sample.memory.or_zero(ProcessField::hugetlb_pages);
}

std::vector<CategorySample> CategoryTotals::samples() const {
  std::vector<CategorySample> samples;
  for (const CategorySample& sample : by_slot_) {
    if (sample.processes > 0) samples.push_back(sample);
  }
  std::ranges::sort(samples, {}, &CategorySample::category);
  return samples;
}

}  // namespace memoir
