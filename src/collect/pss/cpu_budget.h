#pragma once

// CPU budget of reads on demand and in rotation (read_request.h): a share of one core, earned over time and saved for
// up to a minute. The other costs of a tick are deducted, but a quarter always remains. The first tick reads
// everything. At most a few seconds of its cost are charged, because otherwise rotating reads would wait for minutes
// after a start. Pure.

#include <cstdint>
#include <limits>
#include <optional>

namespace memoir {

class CpuBudget {
 public:
  static constexpr std::int64_t kSavedMs = 60'000;
  static constexpr std::int64_t kFirstDebtMs = 5'000;
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  // `share_ppm` is in millionths of a core; 0: every changed process is read.
  explicit CpuBudget(std::int64_t share_ppm) : share_ppm_(share_ppm) {}

  void set_share(std::int64_t share_ppm) { share_ppm_ = share_ppm; }
  bool unlimited() const { return share_ppm_ == 0; }

  // Starts a tick at `boot_ms`. `other_us` is the CPU time of all other work since the last tick.
  void begin(std::int64_t boot_ms, std::int64_t other_us);
  void spend(std::int64_t us) { left_us_ -= us; }

  // Returns the CPU time left for reads; no read starts at 0 or less. The first tick may read all processes, because
  // nothing is known yet.
  std::int64_t left_us() const;

 private:
  std::int64_t share_ppm_;
  std::int64_t left_us_ = 0;
  std::optional<std::int64_t> began_ms_;
  bool first_ = true;
};

}  // namespace memoir
