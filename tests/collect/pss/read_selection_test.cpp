#include "collect/pss/read_selection.h"

#include <numeric>

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kMuch = 1'000'000'000;

// A process that was read a while ago at the usual cost, and that is unchanged.
ReadCandidate still() {
  return {.rss_kib = 50'000, .pss_kib = 50'000, .age_ms = 30'000, .cost = {300, 400}};
}

ReadCandidate moved(std::int64_t kib) {
  ReadCandidate need = still();
  need.touched_kib = kib;
  return need;
}

std::vector<std::size_t> chosen(const std::vector<ReadCandidate>& needs, std::int64_t allowance_us = kMuch) {
  return choose(needs, allowance_us).chosen;
}

}  // namespace

TEST_CASE("an unchanged process is not read until its reading is too old") {
  CHECK_FALSE(due(still()));
  ReadCandidate old = still();
  old.age_ms = kGreatestAgeMs - 1;
  CHECK_FALSE(due(old));
  old.age_ms = kGreatestAgeMs;
  CHECK(due(old));
  // Reads of an expensive process are less frequent, but there is a maximum age.
  old.cost.cpu_us = 3'000;
  CHECK_FALSE(due(old));
  old.age_ms = 3 * kGreatestAgeMs;
  CHECK(due(old));
  old.cost.cpu_us = 500'000;
  old.age_ms = 6 * kGreatestAgeMs;
  CHECK(due(old));
}

TEST_CASE("a change makes a process due, but a page or two does not") {
  CHECK(due(moved(300)));
  CHECK_FALSE(due(moved(210)));
  ReadCandidate small = moved(33);
  small.pss_kib = 1'000;
  CHECK(due(small));
  small.touched_kib = 26;
  CHECK_FALSE(due(small));
  // For small processes, a 32nd of the PSS is enough.
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

TEST_CASE("a long reading is followed by a pause, even if the process changes") {
  ReadCandidate large = moved(1 << 20);
  large.cost.wall_us = 50'000;
  large.age_ms = 99'999;
  CHECK_FALSE(due(large));
  large.age_ms = 100'000;
  CHECK(due(large));
  large.age_ms = 0;
  large.unread = true;  // it has exec'd, so its cost is unknown
  CHECK(due(large));
}

TEST_CASE("new processes come first, then the largest changes") {
  ReadCandidate fresh{.unread = true, .rss_kib = 100'000};
  CHECK(chosen({moved(1'000), moved(40'000), still(), moved(5'000), fresh}) == std::vector<std::size_t>{4, 1, 3, 0});
}

TEST_CASE("only the last read may exceed the budget") {
  std::vector<ReadCandidate> needs(100, moved(1'000));
  const ReadSelection choice = choose(needs, 1'000);
  CHECK(choice.chosen.size() == 4);  // 300 µs each
  CHECK(choice.deferred == 96);
  CHECK(choose(needs, 0).chosen.empty());
  CHECK(choose(needs, -5).deferred == 100);
  CHECK(choose({}, kMuch).chosen.empty());
}

TEST_CASE("no process waits forever, even if others change all the time") {
  std::vector<ReadCandidate> needs(50, moved(20'000));
  needs[0] = moved(300);
  std::vector<int> readings(needs.size());
  for (int tick = 0; tick < 3'600; ++tick) {
    for (ReadCandidate& need : needs) need.age_ms += 10'000;
    for (const std::size_t i : chosen(needs, 1'000)) {
      ++readings[i];
      needs[i].age_ms = 0;
    }
  }
  CHECK(readings[0] > 20);
  CHECK(std::accumulate(readings.begin(), readings.end(), 0) == 3'600 * 4);
}

TEST_CASE("a process whose estimates are accurate is due only after larger changes or a longer time") {
  ReadCandidate trusted = moved(4'000);
  trusted.wrong_part = 1.0 / 64;
  CHECK_FALSE(due(trusted));
  trusted.age_ms = kGreatestAgeMs * 3 / 4;
  CHECK(due(trusted));
  trusted.age_ms = 30'000;
  trusted.touched_kib = 20'000;
  CHECK(due(trusted));
  ReadCandidate shared = moved(300);  // most of it is shared, so small changes matter
  shared.wrong_part = 0.5;
  CHECK_FALSE(due(shared));
  shared.pss_kib = 10'000;
  CHECK(due(shared));
}

TEST_CASE("in a burst the most changed processes are read beyond the budget, unchanged ones are not") {
  ReadCandidate grown = still();
  grown.moved_kib = 500'000;
  ReadCandidate unread = still();
  unread.unread = true;
  const std::vector<ReadCandidate> needs{still(), moved(300), grown, unread, moved(20)};
  ReadSelection choice = choose(needs, 0);
  CHECK(choice.chosen.empty());
  CHECK(choice.deferred == 2);
  add_foremost(needs, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{2, 3, 1});
  CHECK(choice.deferred == 0);
  // A process that is due anyway is not read twice.
  choice = choose(needs, kMuch);
  add_foremost(needs, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{3, 1, 2});
}

TEST_CASE("in a burst reads are limited in number and cost, with a shorter pause") {
  std::vector<ReadCandidate> needs(30, moved(300));
  ReadSelection choice;
  add_foremost(needs, choice);
  CHECK(choice.chosen.size() == kBurstReads);
  for (ReadCandidate& need : needs) need.cost = {9'000, 9'000};
  choice = {};
  add_foremost(needs, choice);
  CHECK(choice.chosen.size() == 3);
  for (ReadCandidate& need : needs) need.age_ms = 9 * kBurstRest - 1;
  choice = {};
  add_foremost(needs, choice);
  CHECK(choice.chosen.empty());
  needs[7].age_ms = 9 * kBurstRest;
  add_foremost(needs, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{7});
}
