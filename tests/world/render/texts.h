#pragma once

// The kernel's text formats of a world. Pure.

#include <map>
#include <string>
#include <string_view>

#include "support/fake_proc.h"
#include "world/truth.h"
#include "world/world.h"

namespace memoir::world {

test::FakeProcess shown_process(const World& world, const Process& process);

// The lines of meminfo, by key.
std::map<std::string, std::int64_t> meminfo_values(const World& world);
std::string meminfo_text(const std::map<std::string, std::int64_t>& values);
std::string vmstat_text(const World& world);

// Replaces the value in the line of the key. Returns the text unchanged if it has no such line.
std::string with_odd_line(std::string_view text, const OddLine& odd);

}  // namespace memoir::world
