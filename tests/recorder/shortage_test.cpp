#include "recorder/shortage.h"

#include <cmath>
#include <functional>

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kGib = 1024 * kMib;

// Available memory of a machine with 16 GiB, by seconds since the start.
using Series = std::function<std::int64_t(double)>;

// Returns the time in seconds at which a shortage is found within five minutes of scans; nullopt if none is found.
std::optional<double> found(const Series& series, double every_s = 1, std::int64_t total_kib = 16 * kGib) {
  Shortage shortage;
  for (double at_s = 0; at_s < 300; at_s += every_s) {
    const std::int64_t kib = series(at_s);
    if (kib < 0) break;
    if (shortage.see(static_cast<std::int64_t>(at_s * 1000) + 5'000'000, kib, total_kib)) return at_s;
  }
  return std::nullopt;
}

std::int64_t mib(double value) {
  return static_cast<std::int64_t>(value * 1024);
}

}  // namespace

TEST_CASE("shortage: memory that will be used up within a minute is found in time") {
  const double every_s = GENERATE(0.1, 1.0);
  // 8 GiB are used up at 100 MiB a second, which takes 82 s.
  const auto steady = found([](double s) { return mib(8192 - 100 * s); }, every_s);
  REQUIRE(steady);
  CHECK(*steady >= 20);
  CHECK(*steady <= 35);
  // 1 GiB a second is found at once.
  const auto fast = found([](double s) { return mib(8192 - 1024 * std::max(s - 30, 0.0)); }, every_s);
  REQUIRE(fast);
  CHECK(*fast <= 32);
  // A slow exhaustion is found a minute before, or three minutes if little memory is left.
  const auto slow = found([](double s) { return mib(4000 - 20 * s); }, every_s);
  REQUIRE(slow);
  CHECK(*slow >= 115);
  CHECK(*slow <= 145);
}

TEST_CASE("shortage: a steady machine with little available memory has no shortage") {
  const double every_s = GENERATE(0.1, 1.0);
  CHECK_FALSE(found([](double) { return mib(700); }, every_s));
  CHECK_FALSE(found([](double s) { return mib(700 + 30 * std::sin(s)); }, every_s));
  CHECK_FALSE(found([](double s) { return mib(300 - s / 10); }, every_s));
}

TEST_CASE("shortage: alternating allocation and release is no shortage") {
  const double every_s = GENERATE(0.1, 1.0);
  const double period_s = GENERATE(3.0, 8.0, 14.0);
  // 1 GiB of 3 GiB is used and released, repeatedly. Less memory is available at the first scans than later.
  const auto saw = [=](double s) { return mib(s < 1 ? 2048 : 3072 - 1024 * std::fmod(s, period_s) / period_s); };
  CHECK_FALSE(found(saw, every_s));
}

TEST_CASE("shortage: the start of a large program and a filling cache are no shortage if enough is left") {
  CHECK_FALSE(found([](double s) { return mib(s < 60 ? 12'000 : 11'200); }));
  // While a large file is copied, a part of the page cache is not available, but the copy ends.
  CHECK_FALSE(found([](double s) { return mib(9'000 - 400 * (1 - std::exp(-s / 20)) + 40 * std::sin(7 * s)); }));
}

TEST_CASE("shortage: on a small machine less memory is a shortage") {
  const auto small = found([](double s) { return mib(200 - 4 * s); }, 1, 512 * kMib);
  REQUIRE(small);
  CHECK(*small < 45);
}

TEST_CASE("shortage: rare scans are compared with the previous one") {
  CHECK(found([](double s) { return mib(8192 - 100 * s); }, 30));
  CHECK_FALSE(found([](double s) { return mib(8192 - 5 * s); }, 30));
}

TEST_CASE("stalls by PSI: the same share of the time as in the kernel's trigger") {
  using M = MachineField;
  MachineMemory before;
  MachineMemory now;
  before.set(M::psi_some_total, 1'000'000);
  now.set(M::psi_some_total, 1'000'000 + 749'000);
  CHECK_FALSE(stalls(before, now, 10'000));
  now.set(M::psi_some_total, 1'000'000 + 750'000);
  CHECK(stalls(before, now, 10'000));
  CHECK_FALSE(stalls(before, before, 0));
  // PSI stalls count as shortage.
  now.set(M::psi_some_total, 1'000'000);
  before.set(M::pswpin, 0);
  now.set(M::pswpin, 1'000'000);
  CHECK_FALSE(stalls(before, now, 10'000));
}

TEST_CASE("stalls without PSI: direct reclaim and swap-ins count") {
  using M = MachineField;
  MachineMemory before;
  before.set(M::allocstall_normal, 1'000);
  before.set(M::allocstall_movable, 5'000);
  before.set(M::pswpin, 70);
  CHECK_FALSE(stalls(before, before, 10'000));
  CHECK_FALSE(stalls(before, before, 0));
  CHECK_FALSE(stalls({}, {}, 10'000));
  MachineMemory now = before;
  now.set(M::allocstall_normal, 1'099);
  now.set(M::allocstall_movable, 5'100);
  CHECK_FALSE(stalls(before, now, 10'000));
  now.set(M::allocstall_normal, 1'100);
  CHECK(stalls(before, now, 10'000));
  now = before;
  now.set(M::pswpin, 70 + 9'999);
  CHECK_FALSE(stalls(before, now, 10'000));
  now.set(M::pswpin, 70 + 10'000);
  CHECK(stalls(before, now, 10'000));
}
