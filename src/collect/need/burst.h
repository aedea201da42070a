#pragma once

// When the recorder looks closely for a while. A burst begins with a reason, lasts for as long as reasons go on and ten
// seconds more, but a minute at most; then it rests for four times its length, and a minute at least, in which none
// begins. A burst that begins soon after a rest, within its length, has another of twice that length after it, up to an
// hour: of a machine that is short of memory all day the tenth burst tells little that the first did not.
//
// An OOM kill is what all this is recorded for, and over in an instant: it begins a burst in a rest, too. But a limit
// of a cgroup lets any user bring kills about without end: so of ten seconds only, and once in each rest, which goes on
// afterwards.
//
// So, whatever happens, bursts take less than a fifth of a day: the worst are of 15 s with an OOM kill in each rest, 25
// s of 145 s. Pure; times are of the boot clock.

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

enum class BurstReason : std::uint8_t { pressure, shortage, growth, oom_kill };

class Burst {
 public:
  static constexpr std::int64_t kLingerMs = 10'000;
  static constexpr std::int64_t kLongestMs = 60'000;
  static constexpr std::int64_t kLeastRestMs = 60'000;
  static constexpr std::int64_t kMostRestMs = 3'600'000;
  static constexpr std::int64_t kRestTimes = 4;

  enum class Change : std::uint8_t { none, began, ended };

  // A reason is seen, or, without one, time has passed: to be called now and then during a burst. Of a burst that is
  // over the end comes first; what is seen with it falls into the rest.
  Change see(std::int64_t now_ms, std::optional<BurstReason> reason = {});
  // Ends it before its time.
  void end(std::int64_t now_ms);

  bool running() const { return running_; }
  // Of the burst that runs, or ended last.
  std::int64_t length_ms() const { return length_ms_; }
  std::int64_t rest_until_ms() const { return rest_until_ms_; }
  // What was seen in it, as "processes waited for memory, a process grew fast".
  std::string reasons() const;

 private:
  void begin(std::int64_t now_ms, bool in_rest);

  bool running_ = false;
  bool in_rest_ = false;  // the burst that runs: it began in a rest
  bool soon_ = false;     // it began soon after one
  bool spent_ = false;    // an OOM kill had its burst in this rest
  std::int64_t began_ms_ = 0;
  std::int64_t until_ms_ = 0;
  std::int64_t length_ms_ = 0;
  std::int64_t rest_ms_ = 0;
  std::int64_t rest_until_ms_ = 0;
  unsigned seen_ = 0;  // a bit for each reason
};

}  // namespace memoir
