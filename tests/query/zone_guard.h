#pragma once

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace memoir::test {

// Sets the time zone of the process for one test.
class ZoneGuard {
 public:
  explicit ZoneGuard(const char* zone) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    setenv("TZ", zone, 1);
    tzset();
  }
  ~ZoneGuard() {
    if (before_) {
      setenv("TZ", before_->c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    tzset();
  }
  ZoneGuard(const ZoneGuard&) = delete;
  ZoneGuard& operator=(const ZoneGuard&) = delete;

 private:
  std::optional<std::string> before_;
};

// Europe/Berlin in POSIX format, which works without a time zone database.
inline constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

}  // namespace memoir::test
