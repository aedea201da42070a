#include "analysis/restarts.h"

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kMin = 60'000;

}  // namespace

TEST_CASE("an exit and a start of the same identity soon afterwards are a restart") {
  const std::vector<Life> lives{{"web", 0, 60 * kMin, 60 * kMin + 10'000},
                                {"db", 0, 200 * kMin, std::nullopt},
                                {"web", 60 * kMin + 4000, 200 * kMin, std::nullopt}};
  const auto restarts = find_restarts(lives);
  REQUIRE(restarts.size() == 1);
  CHECK(restarts[0].ended == 0);
  CHECK(restarts[0].begun == 2);
}

TEST_CASE("not a restart: another identity, too late, a short job, an older sibling") {
  CHECK(find_restarts(std::vector<Life>{{"a", 0, 60 * kMin, 61 * kMin}, {"b", 61 * kMin, 90 * kMin, {}}}).empty());
  CHECK(find_restarts(std::vector<Life>{{"a", 0, 60 * kMin, 61 * kMin}, {"a", 72 * kMin, 90 * kMin, {}}}).empty());
  CHECK(find_restarts(std::vector<Life>{{"a", 0, 5 * kMin, 6 * kMin}, {"a", 7 * kMin, 90 * kMin, {}}}).empty());
  CHECK(find_restarts(std::vector<Life>{{"a", 0, 60 * kMin, 61 * kMin}, {"a", 30 * kMin, 90 * kMin, {}}}).empty());
  CHECK(find_restarts({}).empty());
}

TEST_CASE("each start follows one exit: a restarted pool is as many restarts as it has workers") {
  std::vector<Life> lives;
  for (int worker = 0; worker < 4; ++worker) lives.push_back({"pool", 0, 60 * kMin, 60 * kMin + 10'000});
  for (int worker = 0; worker < 3; ++worker) lives.push_back({"pool", 60 * kMin + 2000, 90 * kMin, {}});
  const auto restarts = find_restarts(lives);
  REQUIRE(restarts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(restarts[i].begun == 4 + i);
}

TEST_CASE("repeated restarts of a process are a chain") {
  std::vector<Life> lives;
  for (std::int64_t i = 0; i < 5; ++i) {
    const std::int64_t begin = i * 30 * kMin;
    lives.push_back({"loop", begin, begin + 29 * kMin, begin + 29 * kMin + 10'000});
  }
  const auto restarts = find_restarts(lives);
  REQUIRE(restarts.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(restarts[i].ended == i);
    CHECK(restarts[i].begun == i + 1);
  }
}
