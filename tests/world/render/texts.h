#pragma once

// A world in the kernel's text formats. Pure.

#include <map>
#include <string>
#include <string_view>

#include "support/fake_proc.h"
#include "world/truth.h"
#include "world/world.h"

namespace memoir::world {

test::FakeProcess shown_process(const World& world, const Process& process);

// Lines of meminfo, by their keys.
std::map<std::string, std::int64_t> meminfo_values(const World& world);
std::string meminfo_text(const std::map<std::string, std::int64_t>& values);
std::string vmstat_text(const World& world);

// The text with another value in the line of the key; unchanged without such a line.
std::string with_odd_line(std::string_view text, const OddLine& odd);

}  // namespace memoir::world
