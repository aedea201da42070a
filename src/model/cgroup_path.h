#pragma once

// Visits the components of a cgroup's path, each with the container that it names. Pure.

#include <functional>
#include <string_view>

#include "model/container.h"

namespace memoir {

// Called for each component, from the root on. The runtime of `container` is empty if the component names no
// container.
using VisitComponent = std::function<void(std::string_view component, const Container& container)>;
void visit_components(std::string_view cgroup, const VisitComponent& visit);

}  // namespace memoir
