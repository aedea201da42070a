#pragma once

// The components of a cgroup's path, with the containers that they are of. Pure.

#include <functional>
#include <string_view>

#include "model/container.h"

namespace memoir {

// From the root on; a container without a runtime: the component is of none.
using VisitComponent = std::function<void(std::string_view component, const Container& container)>;
void visit_components(std::string_view cgroup, const VisitComponent& visit);

}  // namespace memoir
