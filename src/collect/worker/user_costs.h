#pragma once

// Names the users whose processes cost noticeable CPU time to read and redact. Pure.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace memoir {

class UserCosts {
 public:
  static constexpr std::int64_t kWindowMs = 300'000;
  static constexpr std::int64_t kNoticeablePercent = 2;  // percent of a core
  static constexpr std::size_t kMostNamed = 3;

  // CPU time in µs by uid.
  using Used = std::map<std::uint32_t, std::int64_t>;

  // Adds the CPU time that a tick used. Returns the predicate of "Reads of processes" for the last complete window: the
  // CPU time used, and for which users. Empty if little was used. `name` returns the name of a uid.
  const std::string& see(const Used& used, std::int64_t boot_ms, const std::function<std::string(std::uint32_t)>& name);

 private:
  Used used_;  // CPU time used in the current window
  std::optional<std::int64_t> started_ms_;
  std::string problem_;
};

}  // namespace memoir
