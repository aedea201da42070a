#pragma once

// Exits with a message and a failure status once the program has used this much CPU time. Only one alarm can be active.

#include <chrono>
#include <string>

namespace memoir::query {

class CpuAlarm {
 public:
  CpuAlarm(const std::string& path, std::chrono::milliseconds within);
  ~CpuAlarm();
  CpuAlarm(const CpuAlarm&) = delete;
  CpuAlarm& operator=(const CpuAlarm&) = delete;
};

}  // namespace memoir::query
