// Leaks outside of a program's private memory: shared memory, kernel memory, descriptors, processes.

#include <cmath>
#include <memory>

#include "bench/leaks/signal.h"

namespace memoir::bench {

namespace {

LeakMetric metric_of(std::string name, double least, double share, LeakUnit unit = LeakUnit::count) {
  return {std::move(name), least, share, unit};
}

// A count that grows by one at random times, on top of a daily level.
Case counted(Draw& draw, const LeakMetric& metric, double level, double most) {
  auto grown = std::make_shared<std::vector<int>>(static_cast<std::size_t>(kHours * 12) + 1, 0);
  const double whole = draw.log_parameter(2, most) * std::max(metric.min_growth, metric.min_share * level);
  int sum = 0;
  double next = draw.exponential(kHours / whole);
  for (std::size_t at = 0; at < grown->size(); ++at) {
    for (; next <= static_cast<double>(at) / 12; next += draw.exponential(kHours / whole)) ++sum;
    (*grown)[at] = sum;
  }
  const Shape day = daily(draw);
  const double swing = draw.parameter(0, 0.3) * level;
  Case made;
  made.metric = metric;
  made.level = level;
  made.growth = whole / std::max(level, 1.0);
  made.onset_ms = kStartMs;
  Signal signal;
  signal.noisy = false;
  signal.kib = [=](double hour) {
    return std::floor(level + swing * day(hour)) + (*grown)[static_cast<std::size_t>(hour * 12 + 0.5)];
  };
  made.samples = sample(draw, signal);
  return made;
}

Case processes(Draw& draw) {
  return counted(draw, metric_of("processes", 10, 0.2), std::floor(draw.log_parameter(1, 40)), 20);
}
Case zombies(Draw& draw) {
  return counted(draw, metric_of("zombies", 20, 0), 0, 30);
}
Case descriptors(Draw& draw) {
  return counted(draw, metric_of("fds", 256, 0.2), std::floor(draw.log_parameter(20, 2000)), 20);
}

// Files in a tmpfs, or SysV segments. Each appears at full size and stays.
Case shared(Draw& draw) {
  auto grown = std::make_shared<std::vector<double>>(static_cast<std::size_t>(kHours * 12) + 1, 0);
  const double level = 1024 * draw.log_parameter(16, 1000);
  const double whole = std::max(draw_growth(draw) * level, 2 * 16384.0);
  const double pieces = draw.log_parameter(60, 3000);
  double sum = 0;
  double next = draw.exponential(kHours / pieces);
  for (std::size_t at = 0; at < grown->size(); ++at) {
    for (; next <= static_cast<double>(at) / 12; next += draw.exponential(kHours / pieces)) sum += draw.exponential(1);
    (*grown)[at] = sum;
  }
  Case made;
  made.metric = metric_of("shmem", 16384, 0.05, LeakUnit::kib);
  made.level = level;
  made.growth = whole / level;
  made.onset_ms = kStartMs;
  Signal signal;
  signal.noisy = false;
  signal.kib = [=](double hour) { return level + whole * (*grown)[static_cast<std::size_t>(hour * 12 + 0.5)] / sum; };
  made.samples = sample(draw, signal);
  return made;
}

// Kernel memory with the machine's daily swing and its own noise. The minimum growth is a share of the machine's
// memory.
Case kernel_memory(Draw& draw, const std::string& name, double share_of_ram) {
  const double ram = 1024 * 1024 * draw.log_parameter(4, 256);
  const double level = ram * draw.log_parameter(2 * share_of_ram, 20 * share_of_ram);
  const double whole = std::max(draw_growth(draw) * level, 1.6 * share_of_ram * ram);
  const Shape day = daily(draw);
  const double swing = draw.parameter(0.05, 0.3);
  Case made;
  made.metric = metric_of(name, share_of_ram * ram, 0.05, LeakUnit::kib);
  made.level = level;
  made.growth = whole / level;
  made.onset_ms = kStartMs;
  made.slope_per_day = whole / kDays;
  Signal signal;
  signal.noise_level = level;
  signal.kib = [=](double hour) { return level * (1 + swing * day(hour)) + whole * hour / kHours; };
  made.samples = sample(draw, signal);
  return made;
}

}  // namespace

std::vector<CaseClass> kernel_and_count_classes() {
  return {
      {"processes", true, false, processes},
      {"zombies", true, false, zombies},
      {"descriptors", true, false, descriptors},
      {"shmem, tmpfs", true, false, shared},
      {"slab", true, true, [](Draw& draw) { return kernel_memory(draw, "slab-unreclaimable", 0.002); }},
      {"page tables", true, true, [](Draw& draw) { return kernel_memory(draw, "page-tables", 0.001); }},
  };
}

}  // namespace memoir::bench
