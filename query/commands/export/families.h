#pragma once

// What series are called for Prometheus: families of one name, their unit and their labels.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.h"
#include "query/state/state.h"

namespace memoir::query {

struct Family {
  std::string name;  // of a counter without its "_total"
  std::string help;
  std::string_view unit;  // bytes, seconds, ratio; empty: a count
  bool counter = false;
  double scale = 1;  // from what is stored
};

// With the "_total" of a counter.
std::string series_name(const Family& family);

// name="value", whatever is in the value.
std::string label(std::string_view name, std::string_view value);

// The same for who reads it on a screen: printable, and short; what is cut still differs from all others.
std::string short_label(std::string_view name, std::string_view value);

// Which family, and the value as it is stored.
using VisitValue = std::function<void(std::size_t family, std::int64_t value)>;

// The first is what is used; then come those that the kernel tells.
std::vector<Family> machine_families();
void visit_machine(const MachineMemory& memory, const VisitValue& visit);

// The last one rollups do not have.
std::vector<Family> category_families();
void visit_category(const GroupState& held, const VisitValue& visit);

}  // namespace memoir::query
