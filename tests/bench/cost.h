#pragma once

// Cost of work: CPU time of all threads of the process.

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <sys/types.h>
#include <time.h>
#include <utility>
#include <vector>

#include "base/result.h"

namespace memoir::bench {

template <typename T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

inline double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

template <typename Work>
double cost_us(Work work) {
  const double before = cpu_us();
  work();
  return cpu_us() - before;
}

// CPU time of all threads of another process, including exited threads.
inline double cpu_ms_of(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace memoir::bench
