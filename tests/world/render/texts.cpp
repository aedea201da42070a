#include "world/render/texts.h"

#include <fmt/format.h>

namespace memoir::world {

test::FakeProcess shown_process(const World& world, const Process& process) {
  const Process* const parent = world.find(process.parent);
  test::FakeProcess shown;
  shown.pid = process.pid;
  shown.comm = process.comm;
  shown.parent_pid = parent == nullptr ? 0 : parent->pid;
  shown.uid = process.uid;
  shown.start_ticks = process.start_ticks;
  shown.minor_faults = process.minor_faults;
  shown.arguments = process.arguments;
  shown.exe = process.arguments.front();
  shown.cwd = "/srv";
  shown.cgroup = process.cgroup;
  shown.memory = world.memory(process);
  return shown;
}

std::map<std::string, std::int64_t> meminfo_values(const World& world) {
  const std::int64_t anon = world.resident_kib(PageKind::anon);
  const std::int64_t shmem = world.resident_kib(PageKind::shmem);
  const std::int64_t cached = world.resident_kib(PageKind::file) + shmem;
  return {
      {"MemTotal", World::kTotalKib},
      {"MemFree", World::kTotalKib - World::kKernelKib - anon - cached},
      {"MemAvailable", World::kTotalKib - world.used_kib()},
      {"Buffers", 0},
      {"Cached", cached},
      {"SwapCached", 0},
      {"SwapTotal", World::kSwapKib},
      {"SwapFree", World::kSwapKib - world.swapped_kib()},
      {"AnonPages", anon},
      {"Mapped", world.mapped_kib()},
      {"Shmem", shmem},
      {"Slab", World::kKernelKib},
      {"SReclaimable", 0},
      {"SUnreclaim", World::kKernelKib},
  };
}

std::string meminfo_text(const std::map<std::string, std::int64_t>& values) {
  std::string text;
  for (const auto& [key, kib] : values) text += fmt::format("{:<16}{:8} kB\n", key + ':', kib);
  return text;
}

std::string vmstat_text(const World& world) {
  return fmt::format("nr_free_pages 1\npgfault 100\npgmajfault 1\npswpin 0\npswpout 0\noom_kill {}\n",
                     world.oom_kills());
}

std::string with_odd_line(std::string_view text, const OddLine& odd) {
  const std::size_t at = text.starts_with(odd.key + ':') || text.starts_with(odd.key + ' ')
                             ? 0
                             : std::min(text.find('\n' + odd.key + ':'), text.find('\n' + odd.key + ' '));
  if (at == std::string_view::npos) return std::string(text);
  const std::size_t line = at == 0 ? 0 : at + 1;
  const std::size_t value = line + odd.key.size() + 1;
  const std::size_t end = text.find('\n', line);
  return fmt::format("{} {}{}", text.substr(0, value), odd.value, text.substr(end));
}

}  // namespace memoir::world
