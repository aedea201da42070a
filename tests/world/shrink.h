#pragma once

// Shortens a schedule that violates a law. Truncates it after the violation, and then drops steps as long as the same
// clause is violated (delta debugging: Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input").

#include <string>
#include <vector>

#include "world/audit/audit.h"

namespace memoir::world {

std::vector<std::string> shrink(std::vector<std::string> steps, const Clause& clause);

}  // namespace memoir::world
