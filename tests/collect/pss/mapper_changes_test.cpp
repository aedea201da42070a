// The maximum change of a process's PSS that other processes can cause.

#include "collect/pss/mapper_changes.h"

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr SharedUses kLarge{SharedUse{100'000, 50'000}, SharedUse{100'000, 50'000}};

// A process that maps files with this RSS and PSS.
SharedUses files(std::int64_t rss_kib, std::int64_t pss_kib) {
  return {SharedUse{rss_kib, pss_kib}, SharedUse{}};
}

struct Changes {
  MapperChanges changes;
  std::int64_t now_ms = 1'000;

  void next() {
    changes.finish(now_ms);
    now_ms += 1'000;
  }
  std::int64_t since(std::int64_t read_ms) {
    changes.finish(now_ms);
    return changes.change_kib(kLarge, read_ms);
  }
};

}  // namespace

TEST_CASE("mappers: a new mapper reduces the PSS of earlier readings by its part") {
  Changes all;
  std::optional<ObservedMapper> mapper;
  all.next();
  all.changes.observe(files(6'000, 2'000), false, all.now_ms, mapper);  // the third mapper: 1/2 - 1/3
  CHECK(all.since(1'000) == 1'000);
  CHECK(all.since(2'000) == 0);
  CHECK(all.changes.change_kib(files(400, 200), 1'000) == 400);
  CHECK(all.changes.change_kib({SharedUse{}, SharedUse{9'000, 9'000}}, 1'000) == 0);
  all.next();
  CHECK_FALSE(all.changes.finish(all.now_ms));
  all.changes.observe(files(12'000, 8'000), false, all.now_ms, mapper);  // the only mapper of another file
  CHECK(all.since(2'000) > 0);
}

TEST_CASE("mappers: mapping unshared memory takes nothing from others") {
  Changes all;
  std::optional<ObservedMapper> mapper;
  all.next();
  all.changes.observe(files(6'000, 6'000), false, all.now_ms, mapper);
  CHECK_FALSE(all.changes.finish(all.now_ms));
}

TEST_CASE("mappers: a release gives memory back; readings from before the mapping are unchanged") {
  Changes all;
  std::optional<ObservedMapper> mapper;
  all.next();
  all.changes.observe(files(6'000, 2'000), false, all.now_ms, mapper);
  all.next();
  all.next();
  all.changes.observe_exit(*mapper, all.now_ms);
  CHECK(all.since(1'000) == 0);
  CHECK(all.since(3'000) == 1'000);
  CHECK(all.since(4'000) == 0);
}

TEST_CASE("mappers: an exec releases all and maps again") {
  Changes all;
  std::optional<ObservedMapper> mapper;
  all.changes.observe(files(6'000, 2'000), false, all.now_ms, mapper);
  all.next();
  all.changes.observe(files(6'000, 2'000), true, all.now_ms, mapper);
  CHECK(all.since(1'000) == 2'000);
}

TEST_CASE("mappers: changes are discarded with the readings that they refer to") {
  Changes all;
  std::optional<ObservedMapper> mapper;
  all.next();
  all.changes.observe(files(6'000, 2'000), false, all.now_ms, mapper);
  all.next();
  all.now_ms += 3 * 3'600'000;
  all.changes.observe(files(9'000, 3'000), false, all.now_ms, mapper);
  CHECK(all.since(1'000) == 500);
  all.changes.observe_exit(*mapper, all.now_ms);
  CHECK(all.since(1'000) == 2'000);
}

TEST_CASE("mappers: a process with a small share can lose little, however much other processes map") {
  Changes all;
  std::optional<ObservedMapper> mapper;
  all.next();
  all.changes.observe(files(6'000, 2'000), false, all.now_ms, mapper);
  CHECK(all.since(1'000) == 1'000);
  CHECK(all.changes.change_kib(files(2'000, 16), 1'000) == 32);
}
