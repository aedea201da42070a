#pragma once

// Draws a schedule from a seed; the same seed gives the same steps. Each seed uses a random half of the kinds of change
// (swarm testing), so that the remaining kinds interact more. Pure.

#include <cstdint>
#include <string>
#include <vector>

namespace memoir::world {

std::vector<std::string> schedule(std::uint64_t seed, int ticks);

}  // namespace memoir::world
