#pragma once

// Shrinks a schedule that violates a law: truncates it after the violation, then drops steps while it violates the same
// clause (delta debugging: Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input").

#include <string>
#include <vector>

#include "world/audit/audit.h"

namespace memoir::world {

std::vector<std::string> shrink(std::vector<std::string> steps, const Clause& clause);

}  // namespace memoir::world
