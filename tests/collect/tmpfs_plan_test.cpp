// When a tmpfs is walked and reported, from given readings.

#include "collect/tmpfs/plan.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kMib = 1024;

struct Planned {
  TmpfsPlan plan{30 * kMinute};
  std::int64_t now_ms = 1'000'000;
  std::optional<TmpfsUsage> room = TmpfsUsage{1024 * kMib, 100 * kMib, 50};
  std::int64_t walk_us = 1000;

  // Reads the mount and sets `reported` to the plan's report. Returns true if the reading caused a walk.
  bool walks() {
    plan.see({{{0, 5, "/tmp"}, room}}, now_ms);
    const auto next = plan.next_walk({}, now_ms);
    if (next) plan.take(*next, {TmpfsWalk::whole, {}, {}, walk_us, ""}, now_ms);
    reported = plan.report(false);
    return next.has_value();
  }
  bool walks_after(std::int64_t ms) {
    now_ms += ms;
    return walks();
  }
  void use(std::int64_t kib) { room->used_kib = kib; }

  std::optional<std::vector<TmpfsSample>> reported;
};

}  // namespace

TEST_CASE("tmpfs plan: a mount is walked at once, and again after a change and the interval") {
  Planned mount;
  CHECK(mount.walks());
  REQUIRE(mount.reported);
  CHECK(mount.reported->at(0).walk == TmpfsWalk::whole);
  CHECK(mount.reported->at(0).used_kib == 100 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  CHECK_FALSE(mount.reported);
  CHECK_FALSE(mount.walks_after(40 * kMinute));
  mount.use(101 * kMib);
  CHECK(mount.walks());
  mount.use(102 * kMib);
  CHECK_FALSE(mount.walks_after(29 * kMinute));
  CHECK(mount.walks_after(kMinute));
}

TEST_CASE("tmpfs plan: it is walked earlier after a large change, but at most once in a sixth of the interval") {
  Planned mount;
  CHECK(mount.walks());
  mount.use(300 * kMib);
  CHECK_FALSE(mount.walks_after(4 * kMinute));
  CHECK(mount.reported);
  CHECK(mount.walks_after(kMinute));
  mount.use(310 * kMib);
  CHECK_FALSE(mount.walks_after(10 * kMinute));
}

TEST_CASE("tmpfs plan: it is walked at once when it exceeds 80 and 95 % of its limit, once for each") {
  Planned mount;
  CHECK(mount.walks());
  mount.use(700 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  mount.use(820 * kMib);
  CHECK(mount.walks_after(10'000));
  mount.use(900 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  mount.use(973 * kMib);
  CHECK(mount.walks_after(10'000));
  mount.use(815 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  mount.use(990 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));  // usage has not been below 95 % since the last walk
}

TEST_CASE("tmpfs plan: a walk at a fill level does not wait for the CPU budget, even the first walk of a mount") {
  Planned mount;
  const auto next = [&mount] {
    mount.plan.see({{{0, 5, "/tmp"}, mount.room}}, mount.now_ms);
    return mount.plan.coming({}, mount.now_ms);
  };
  REQUIRE(next());
  CHECK_FALSE(next()->urgent);
  mount.use(820 * kMib);
  CHECK(next()->urgent);
  CHECK(mount.walks());
  CHECK_FALSE(next());
  mount.use(973 * kMib);
  CHECK(next()->urgent);
}

TEST_CASE("tmpfs plan: without a limit, or if its usage is unknown, only a change counts") {
  Planned mount;
  mount.room->limit_kib.reset();
  CHECK(mount.walks());
  mount.use(5'000 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  mount.room->limit_kib = 1024 * kMib;
  mount.room->used_kib.reset();
  CHECK_FALSE(mount.walks_after(10'000));
}

TEST_CASE("tmpfs plan: after an OOM kill it is walked if it is nearly full or changed much") {
  Planned mount;
  CHECK(mount.walks());
  mount.plan.note_oom_kill();
  CHECK_FALSE(mount.walks_after(10'000));
  mount.use(300 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  mount.plan.note_oom_kill();
  CHECK(mount.walks_after(10'000));
  mount.use(850 * kMib);
  CHECK(mount.walks_after(10'000));
  mount.use(852 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  mount.plan.note_oom_kill();
  CHECK(mount.walks_after(10'000));
  mount.plan.note_oom_kill();
  CHECK_FALSE(mount.walks_after(10'000));  // unchanged since the last walk
}

TEST_CASE("tmpfs plan: walks at fill levels keep to their share of CPU time") {
  Planned mount;
  mount.walk_us = 600'000;
  CHECK(mount.walks());
  mount.use(990 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
}

TEST_CASE("tmpfs plan: usage is reported after a large change, and otherwise at long intervals") {
  Planned mount;
  mount.plan.set_interval(0);
  CHECK_FALSE(mount.walks());
  REQUIRE(mount.reported);
  CHECK(mount.reported->at(0).walk == TmpfsWalk::not_yet);
  mount.use(101 * kMib);
  CHECK_FALSE(mount.walks_after(10'000));
  CHECK_FALSE(mount.reported);
  CHECK_FALSE(mount.walks_after(5 * kMinute));
  REQUIRE(mount.reported);
  CHECK(mount.reported->at(0).used_kib == 101 * kMib);
  mount.use(120 * kMib);
  mount.walks_after(10'000);
  CHECK(mount.reported);
  mount.walks_after(10 * kMinute);
  CHECK_FALSE(mount.reported);
  CHECK(mount.plan.report(true)->size() == 1);
  mount.plan.report_all();
  CHECK(mount.plan.report(false));
}

TEST_CASE("tmpfs plan: walks use no more than their share of CPU time, some of which is saved up") {
  Planned mount;
  mount.walk_us = 600'000;
  CHECK(mount.walks());
  mount.use(900 * kMib);
  CHECK_FALSE(mount.walks_after(30 * kMinute));  // 100 ms above the budget, which is earned in 2000 s
  CHECK(mount.walks_after(10 * kMinute));
}

TEST_CASE("tmpfs plan: a mount may be unreachable, reachable again, and unmounted") {
  Planned mount;
  CHECK(mount.walks());
  mount.room.reset();
  CHECK_FALSE(mount.walks_after(10'000));
  REQUIRE(mount.reported);
  CHECK(mount.reported->at(0).walk == TmpfsWalk::not_read);
  CHECK_FALSE(mount.reported->at(0).used_kib);
  CHECK(mount.reported->at(0).walked_ms == 1'000'000);
  mount.room = TmpfsUsage{1024 * kMib, 100 * kMib, 50};
  mount.walks_after(10'000);
  REQUIRE(mount.reported);
  CHECK(mount.reported->at(0).walk == TmpfsWalk::whole);
  mount.plan.see({}, mount.now_ms);
  const auto gone = mount.plan.report(false);
  REQUIRE(gone);
  CHECK(gone->empty());
}

TEST_CASE("tmpfs plan: an inaccessible mount has its statfs values and is retried after a change") {
  Planned mount;
  mount.plan.see({{{0, 5, "/tmp"}, mount.room}}, mount.now_ms);
  const auto next = mount.plan.next_walk({}, mount.now_ms);
  REQUIRE(next);
  mount.plan.take(*next, {TmpfsWalk::not_read, {}, {}, 10, "Permission denied"}, mount.now_ms);
  const auto reported = mount.plan.report(false);
  REQUIRE(reported);
  CHECK(reported->at(0).walk == TmpfsWalk::not_read);
  CHECK(reported->at(0).used_kib == 100 * kMib);
  CHECK_FALSE(reported->at(0).walked_ms);
  CHECK_FALSE(mount.walks_after(40 * kMinute));
  mount.use(110 * kMib);
  CHECK(mount.walks());
}

TEST_CASE("tmpfs plan: the mount that waits longest comes first, and a hanging one is not walked") {
  TmpfsPlan plan(30 * kMinute);
  const TmpfsMount a{0, 1, "/a"};
  const TmpfsMount b{0, 2, "/b"};
  const TmpfsUsage room{std::nullopt, std::nullopt, std::nullopt};  // counts are unknown, so it may have changed
  plan.see({{a, room}, {b, room}}, 0);
  CHECK(plan.next_walk({a}, 0) == b);
  CHECK(plan.next_walk({}, 10'000) == a);
  CHECK_FALSE(plan.next_walk({}, 20'000));
  CHECK(plan.next_walk({}, 30 * kMinute) == b);
}
