#include "collect/pss/choice.h"

#include <numeric>

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kMuch = 1'000'000'000;

// Read a while ago, at the usual cost, and nothing moved since.
Need still() {
  return {.rss_kib = 50'000, .pss_kib = 50'000, .age_ms = 30'000, .cost = {300, 400}};
}

Need moved(std::int64_t kib) {
  Need need = still();
  need.touched_kib = kib;
  return need;
}

std::vector<std::size_t> chosen(const std::vector<Need>& needs, std::int64_t allowance_us = kMuch) {
  return choose(needs, allowance_us).chosen;
}

}  // namespace

TEST_CASE("who did not move is not read, until the reading is too old") {
  CHECK_FALSE(due(still()));
  Need old = still();
  old.age_ms = kGreatestAgeMs - 1;
  CHECK_FALSE(due(old));
  old.age_ms = kGreatestAgeMs;
  CHECK(due(old));
  // Dear ones are read more seldom, but not for ever.
  old.cost.cpu_us = 3'000;
  CHECK_FALSE(due(old));
  old.age_ms = 3 * kGreatestAgeMs;
  CHECK(due(old));
  old.cost.cpu_us = 500'000;
  old.age_ms = 6 * kGreatestAgeMs;
  CHECK(due(old));
}

TEST_CASE("what moved makes due, a page or two does not") {
  CHECK(due(moved(300)));
  CHECK_FALSE(due(moved(210)));
  Need small = moved(33);
  small.pss_kib = 1'000;
  CHECK(due(small));
  small.touched_kib = 26;
  CHECK_FALSE(due(small));
  // A 32nd, as long as that is little.
  small = moved(45);
  small.pss_kib = 1'600;
  CHECK(due(small));
  small.pss_kib = 2'048;
  CHECK_FALSE(due(small));
  small.touched_kib = 60;
  CHECK(due(small));
  small.pss_kib = 10'000;
  CHECK(due(small));
}

TEST_CASE("after a long reading a process has its rest, whatever moves") {
  Need large = moved(1 << 20);
  large.cost.wall_us = 50'000;
  large.age_ms = 99'999;
  CHECK_FALSE(due(large));
  large.age_ms = 100'000;
  CHECK(due(large));
  large.age_ms = 0;
  large.unread = true;  // it runs another image: what that costs is not known
  CHECK(due(large));
}

TEST_CASE("the largest mover comes first, the new before all") {
  Need fresh{.unread = true, .rss_kib = 100'000};
  CHECK(chosen({moved(1'000), moved(40'000), still(), moved(5'000), fresh}) == std::vector<std::size_t>{4, 1, 3, 0});
}

TEST_CASE("the allowance is kept, but for the last that it began") {
  std::vector<Need> needs(100, moved(1'000));
  const Choice choice = choose(needs, 1'000);
  CHECK(choice.chosen.size() == 4);  // 300 µs each
  CHECK(choice.put_off == 96);
  CHECK(choose(needs, 0).chosen.empty());
  CHECK(choose(needs, -5).put_off == 100);
  CHECK(choose({}, kMuch).chosen.empty());
}

TEST_CASE("nobody waits for ever, though others move more all the time") {
  std::vector<Need> needs(50, moved(20'000));
  needs[0] = moved(300);
  std::vector<int> readings(needs.size());
  for (int tick = 0; tick < 3'600; ++tick) {
    for (Need& need : needs) need.age_ms += 10'000;
    for (const std::size_t i : chosen(needs, 1'000)) {
      ++readings[i];
      needs[i].age_ms = 0;
    }
  }
  CHECK(readings[0] > 20);
  CHECK(std::accumulate(readings.begin(), readings.end(), 0) == 3'600 * 4);
}

TEST_CASE("whose estimates were right so far is read when more moved, or later") {
  Need trusted = moved(4'000);
  trusted.wrong_part = 1.0 / 64;
  CHECK_FALSE(due(trusted));
  trusted.age_ms = kGreatestAgeMs * 3 / 4;
  CHECK(due(trusted));
  trusted.age_ms = 30'000;
  trusted.touched_kib = 20'000;
  CHECK(due(trusted));
  Need shared = moved(300);  // most of it is shared with others: a little counts for much
  shared.wrong_part = 0.5;
  CHECK_FALSE(due(shared));
  shared.pss_kib = 10'000;
  CHECK(due(shared));
}

TEST_CASE("in a burst those that moved most are read beyond the allowance, and nobody who did not move") {
  Need grown = still();
  grown.moved_kib = 500'000;
  Need unread = still();
  unread.unread = true;
  const std::vector<Need> needs{still(), moved(300), grown, unread, moved(20)};
  Choice choice = choose(needs, 0);
  CHECK(choice.chosen.empty());
  CHECK(choice.put_off == 2);
  add_foremost(needs, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{2, 3, 1});
  CHECK(choice.put_off == 0);
  // Who is read anyway is not read twice.
  choice = choose(needs, kMuch);
  add_foremost(needs, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{3, 1, 2});
}

TEST_CASE("in a burst so many are read, at such a cost, and with a shorter rest") {
  std::vector<Need> needs(30, moved(300));
  Choice choice;
  add_foremost(needs, choice);
  CHECK(choice.chosen.size() == kBurstReads);
  for (Need& need : needs) need.cost = {9'000, 9'000};
  choice = {};
  add_foremost(needs, choice);
  CHECK(choice.chosen.size() == 3);
  for (Need& need : needs) need.age_ms = 9 * kBurstRest - 1;
  choice = {};
  add_foremost(needs, choice);
  CHECK(choice.chosen.empty());
  needs[7].age_ms = 9 * kBurstRest;
  add_foremost(needs, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{7});
}
