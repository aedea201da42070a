#pragma once

// Decides when to sample faster. A burst starts for a reason. It ends 10 s after the last reason, after 60 s at most. A
// cooldown of four times its length (at least 60 s) follows, during which no burst starts. If a burst starts soon after
// a cooldown, within the length of that cooldown, its own cooldown is twice as long, up to an hour: on a machine that
// is short of memory all day, the tenth burst adds little to the first.
//
// A fast-growing process is not a problem by itself: every compiler run is one. After a burst with no other reason, the
// cooldown is twice as long, but it only prevents bursts of that kind: severe reasons still start one.
//
// OOM kills are the main purpose of bursts, and they are over in an instant, so an OOM kill starts a burst even in a
// cooldown. But any user can cause endless kills by a cgroup limit. Such a burst therefore lasts only 10 s and starts
// once per cooldown, which continues afterwards.
//
// So bursts always take less than a quarter of the time: severe ones a ninth, others a seventeenth, plus 10 s of each
// cooldown of a minute or more. Pure; times are of the boot clock.

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

enum class BurstReason : std::uint8_t { pressure, shortage, growth, oom_kill };

class Burst {
 public:
  static constexpr std::int64_t kLingerMs = 10'000;
  static constexpr std::int64_t kLongestMs = 60'000;

  enum class Change : std::uint8_t { none, started, ended };

  // Starts or extends a burst for a reason. Must also be called periodically, without a reason, during a burst. If a
  // burst has expired, the call ends it and ignores the reason.
  Change see(std::int64_t now_ms, std::optional<BurstReason> reason = {});
  // Ends the burst early.
  void end(std::int64_t now_ms);

  bool running() const { return running_; }
  // Length of the last burst that ended.
  std::int64_t length_ms() const { return length_ms_; }
  // Returns the end of the cooldown in which `reason` starts no burst.
  std::int64_t rest_until_ms(BurstReason reason) const { return rest_from(reason).until_ms; }
  // Returns the reasons of the current burst, or of the last ended one: "processes waited for memory, a process grew
  // fast".
  std::string reasons() const;

 private:
  struct Rest {
    std::int64_t until_ms = 0;
    std::int64_t length_ms = 0;
  };

  const Rest& rest_from(BurstReason reason) const { return reason == BurstReason::growth ? growth_ : grave_; }
  void begin(std::int64_t now_ms, bool in_rest);
  void rest(Rest& rest, std::int64_t now_ms, std::int64_t min_ms) const;

  bool running_ = false;
  bool in_rest_ = false;  // the current burst started in a cooldown
  bool spent_ = false;    // an OOM kill has already started a burst in this cooldown
  std::int64_t began_ms_ = 0;
  std::int64_t until_ms_ = 0;
  std::int64_t length_ms_ = 0;
  Rest grave_;
  Rest growth_;        // ends no earlier than grave_
  unsigned seen_ = 0;  // a bit for each reason observed in the burst
};

}  // namespace memoir
