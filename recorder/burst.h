#pragma once

// When the recorder looks closely for a while. A burst begins with a reason, lasts for as long as reasons go on and ten
// seconds more, but a minute at most; then it rests for four times its length, and a minute at least, in which none
// begins. A burst that begins soon after a rest, within its length, has another of twice that length after it, up to an
// hour: of a machine that is short of memory all day the tenth burst tells little that the first did not.
//
// That a process grew fast is no harm yet: each compiler does. Where nothing else was seen in a burst, its rest is
// twice as long, and only for bursts of that kind: what is grave still begins one.
//
// An OOM kill is what all this is recorded for, and over in an instant: it begins a burst in any rest. But a limit of a
// cgroup lets any user bring kills about without end: so of ten seconds only, and once in each rest, which goes on
// afterwards.
//
// So, whatever happens, bursts take less than a quarter of a day: a ninth those that are grave, a seventeenth the
// others, and ten seconds of each rest of a minute or more. Pure; times are of the boot clock.

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

enum class BurstReason : std::uint8_t { pressure, shortage, growth, oom_kill };

class Burst {
 public:
  static constexpr std::int64_t kLingerMs = 10'000;
  static constexpr std::int64_t kLongestMs = 60'000;

  enum class Change : std::uint8_t { none, began, ended };

  // A reason is seen, or, without one, time has passed: to be called now and then during a burst. Of a burst that is
  // over the end comes first; what is seen with it falls into the rest.
  Change see(std::int64_t now_ms, std::optional<BurstReason> reason = {});
  // Ends it before its time.
  void end(std::int64_t now_ms);

  bool running() const { return running_; }
  // Of the burst that ended last.
  std::int64_t length_ms() const { return length_ms_; }
  // Until when this begins none.
  std::int64_t rest_until_ms(BurstReason reason) const { return rest_from(reason).until_ms; }
  // What was seen in the burst that runs, or ended last, as "processes waited for memory, a process grew fast".
  std::string reasons() const;

 private:
  struct Rest {
    std::int64_t until_ms = 0;
    std::int64_t length_ms = 0;
  };

  const Rest& rest_from(BurstReason reason) const { return reason == BurstReason::growth ? growth_ : grave_; }
  void begin(std::int64_t now_ms, bool in_rest);
  void rest(Rest& rest, std::int64_t now_ms, std::int64_t least_ms) const;

  bool running_ = false;
  bool in_rest_ = false;  // the burst that runs: it began in a rest
  bool spent_ = false;    // an OOM kill had its burst in this rest
  std::int64_t began_ms_ = 0;
  std::int64_t until_ms_ = 0;
  std::int64_t length_ms_ = 0;
  Rest grave_;
  Rest growth_;        // ends no sooner
  unsigned seen_ = 0;  // a bit for each reason
};

}  // namespace memoir
