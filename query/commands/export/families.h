#pragma once

// Prometheus names of the series: families with their unit and their labels.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.h"
#include "query/state/state.h"

namespace memoir::query {

struct Family {
  std::string name;  // without the "_total" of a counter
  std::string help;
  std::string_view unit;  // bytes, seconds, ratio; empty: a count
  bool counter = false;
  double scale = 1;  // factor from the stored value
};

// Returns the name with the "_total" suffix of a counter.
std::string series_name(const Family& family);

// name="value", escaped.
std::string label(std::string_view name, std::string_view value);

// Like label(), but printable and short. A truncated value gets a hash, so that it differs from all others.
std::string short_label(std::string_view name, std::string_view value);

// Gets the index of a family, and the stored value.
using VisitValue = std::function<void(std::size_t family, std::int64_t value)>;

// The first family is the memory in use; the kernel's values follow.
std::vector<Family> machine_families();
void visit_machine(const MachineMemory& memory, const VisitValue& visit);

// Rollups have no values for the last family.
std::vector<Family> category_families();
void visit_category(const GroupState& held, const VisitValue& visit);

}  // namespace memoir::query
