#pragma once

// What is read by need or in turn (claim.h) may cost: a share of one core, earned over time and saved up for a minute.
// What the rest of a tick costs comes out of it, but a quarter is left in any case. The first tick reads all that there
// is, and owes for no more than a few seconds of it: what is read in turn would wait for minutes after a start. Pure.

#include <cstdint>
#include <limits>
#include <optional>

namespace memoir {

class Allowance {
 public:
  static constexpr std::int64_t kSavedMs = 60'000;
  static constexpr std::int64_t kFirstDebtMs = 5'000;
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  // In millionths of a core; 0: everything is read that moved.
  explicit Allowance(std::int64_t share_ppm) : share_ppm_(share_ppm) {}

  void set_share(std::int64_t share_ppm) { share_ppm_ = share_ppm; }
  bool unlimited() const { return share_ppm_ == 0; }

  // A tick begins, by the boot clock; since the last one the rest of the work took so much CPU.
  void begin(std::int64_t boot_ms, std::int64_t other_us);
  void spend(std::int64_t us) { left_us_ -= us; }

  // 0 or less: nothing is to be read. The first tick may read all: nothing is known yet.
  std::int64_t left_us() const;

 private:
  std::int64_t share_ppm_;
  std::int64_t left_us_ = 0;
  std::optional<std::int64_t> began_ms_;
  bool first_ = true;
};

}  // namespace memoir
