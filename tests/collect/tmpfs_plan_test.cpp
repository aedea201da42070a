// When a tmpfs is walked and told of, by a plan that is given its readings.

#include "collect/tmpfs/plan.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kMib = 1024;

struct Planned {
  TmpfsPlan plan{30 * kMinute};
  std::int64_t now_ms = 1'000'000;
  std::optional<TmpfsRoom> room = TmpfsRoom{1024 * kMib, 100 * kMib, 50};
  std::int64_t walk_us = 1000;

  // A reading now; whether it led to a walk, and whether anything was told.
  bool walks() {
    plan.see({{{0, 5, "/tmp"}, room}}, now_ms);
    const auto next = plan.next_walk({}, now_ms);
    if (next) plan.take(*next, {TmpfsWalk::whole, {}, {}, walk_us, ""}, now_ms);
    told = plan.tell(false);
    return next.has_value();
  }
  bool walks_after(std::int64_t ms) {
    now_ms += ms;
    return walks();
  }
  void use(std::int64_t kib) { room->used_kib = kib; }

  std::optional<std::vector<TmpfsSample>> told;
};

}  // namespace

TEST_CASE("tmpfs plan: walked at once, then where it moved and the time is up") {
  Planned mount;
  CHECK(mount.walks());
  REQUIRE(mount.told);
  CHECK(mount.told->at(0).walk == TmpfsWalk::whole);
  CHECK(mount.told->at(0).used_kib == 100 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  CHECK_FALSE(mount.told);
  CHECK_FALSE(mount.walks_after(40 * kMinute));
  mount.use(101 * kMib);
  CHECK(mount.walks());
  mount.use(102 * kMib);
  CHECK_FALSE(mount.walks_after(29 * kMinute));
  CHECK(mount.walks_after(kMinute));
}

TEST_CASE("tmpfs plan: earlier where it moved much, but not more often than a sixth of the time") {
  Planned mount;
  CHECK(mount.walks());
  mount.use(300 * kMib);
  CHECK_FALSE(mount.walks_after(4 * kMinute));
  CHECK(mount.told);
  CHECK(mount.walks_after(kMinute));
  mount.use(310 * kMib);
  CHECK_FALSE(mount.walks_after(10 * kMinute));
}

TEST_CASE("tmpfs plan: how full it is is told when it moved much, else now and then") {
  Planned mount;
  mount.plan.set_interval(0);
  CHECK_FALSE(mount.walks());
  REQUIRE(mount.told);
  CHECK(mount.told->at(0).walk == TmpfsWalk::not_yet);
  mount.use(101 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  CHECK_FALSE(mount.told);
  CHECK_FALSE(mount.walks_after(5 * kMinute));
  REQUIRE(mount.told);
  CHECK(mount.told->at(0).used_kib == 101 * kMib);
  mount.use(120 * kMib);
  mount.walks_after(10'000);
  CHECK(mount.told);
  mount.walks_after(10 * kMinute);
  CHECK_FALSE(mount.told);
  CHECK(mount.plan.tell(true)->size() == 1);
  mount.plan.tell_all();
  CHECK(mount.plan.tell(false));
}

TEST_CASE("tmpfs plan: walks cost no more than their share, saved up for some") {
  Planned mount;
  mount.walk_us = 600'000;
  CHECK(mount.walks());
  mount.use(900 * kMib);
  CHECK_FALSE(mount.walks_after(30 * kMinute));  // 100 ms are owed: 2000 s
  CHECK(mount.walks_after(10 * kMinute));
}

TEST_CASE("tmpfs plan: one that cannot be reached, comes back, and is gone") {
  Planned mount;
  CHECK(mount.walks());
  mount.room.reset();
  CHECK_FALSE(mount.walks_after(10'000));
  REQUIRE(mount.told);
  CHECK(mount.told->at(0).walk == TmpfsWalk::not_read);
  CHECK_FALSE(mount.told->at(0).used_kib);
  CHECK(mount.told->at(0).walked_ms == 1'000'000);
  mount.room = TmpfsRoom{1024 * kMib, 100 * kMib, 50};
  mount.walks_after(10'000);
  REQUIRE(mount.told);
  CHECK(mount.told->at(0).walk == TmpfsWalk::whole);
  mount.plan.see({}, mount.now_ms);
  const auto gone = mount.plan.tell(false);
  REQUIRE(gone);
  CHECK(gone->empty());
}

TEST_CASE("tmpfs plan: one that may not be entered keeps what statfs says, and is tried again when it moves") {
  Planned mount;
  mount.plan.see({{{0, 5, "/tmp"}, mount.room}}, mount.now_ms);
  const auto next = mount.plan.next_walk({}, mount.now_ms);
  REQUIRE(next);
  mount.plan.take(*next, {TmpfsWalk::not_read, {}, {}, 10, "Permission denied"}, mount.now_ms);
  const auto told = mount.plan.tell(false);
  REQUIRE(told);
  CHECK(told->at(0).walk == TmpfsWalk::not_read);
  CHECK(told->at(0).used_kib == 100 * kMib);
  CHECK_FALSE(told->at(0).walked_ms);
  CHECK_FALSE(mount.walks_after(40 * kMinute));
  mount.use(110 * kMib);
  CHECK(mount.walks());
}

TEST_CASE("tmpfs plan: the longest waiting comes first, one that is stuck not at all") {
  TmpfsPlan plan(30 * kMinute);
  const TmpfsMount a{0, 1, "/a"};
  const TmpfsMount b{0, 2, "/b"};
  const TmpfsRoom room{std::nullopt, std::nullopt, std::nullopt};  // of which nothing is counted: it may have moved
  plan.see({{a, room}, {b, room}}, 0);
  CHECK(plan.next_walk({a}, 0) == b);
  CHECK(plan.next_walk({}, 10'000) == a);
  CHECK_FALSE(plan.next_walk({}, 20'000));
  CHECK(plan.next_walk({}, 30 * kMinute) == b);
}
