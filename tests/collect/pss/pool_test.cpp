#include "collect/pss/pool.h"

#include <algorithm>
#include <numeric>

#include "collect/pss/read_selection.h"
#include "support/catch.h"

using namespace memoir;

using F = ProcessField;

namespace {

constexpr std::int64_t kNow = 10'000'000;

ProcessMemory backend_counters(std::int64_t shmem_kib = 40'000, std::int64_t file_kib = 8'000,
                               std::int64_t anon_kib = 4'000) {
  ProcessMemory memory;
  memory.set(F::rss_anon, anon_kib);
  memory.set(F::rss_file, file_kib);
  memory.set(F::rss_shmem, shmem_kib);
  memory.set(F::vm_rss, anon_kib + file_kib + shmem_kib);
  memory.set(F::vm_exe, 6'000);
  return memory;
}

// `part` is the process's share of its shared memory and files.
ExactReading backend_reading(std::int64_t part, std::int64_t age_ms, const ProcessMemory& memory = backend_counters()) {
  ExactReading read{.memory = memory, .at_ms = kNow - age_ms};
  read.memory.set(F::anonymous, *memory.get(F::rss_anon));
  read.memory.set(F::pss_anon, *memory.get(F::rss_anon) / 2);
  read.memory.set(F::pss_file, *memory.get(F::rss_file) / part);
  read.memory.set(F::pss_shmem, *memory.get(F::rss_shmem) / part);
  read.memory.set(F::pss,
                  *read.memory.get(F::pss_anon) + *read.memory.get(F::pss_file) + *read.memory.get(F::pss_shmem));
  return read;
}

// The backends of a server.
struct Server {
  std::vector<ProcessMemory> memories;
  std::vector<std::optional<ExactReading>> readings;

  explicit Server(std::size_t count) : memories(count, backend_counters()), readings(count) {}

  std::vector<PoolMember> members() const {
    std::vector<PoolMember> members;
    for (std::size_t i = 0; i < memories.size(); ++i) {
      const bool is_read = readings[i].has_value();
      members.push_back(
          {100, "postgres", is_read ? &readings[i]->memory : &memories[i], is_read ? &*readings[i] : nullptr});
    }
    return members;
  }
  std::vector<Pool> pools() const { return find_pools(members(), kNow); }
};

ProcessSample approximated(const ProcessMemory& memory) {
  ProcessSample sample;
  sample.memory = memory;
  sample.source = Source::approximate;
  sample.memory.set(F::pss, *memory.get(F::vm_rss));
  sample.memory.set(F::pss_anon, *memory.get(F::rss_anon));
  sample.memory.set(F::pss_file, *memory.get(F::rss_file));
  sample.memory.set(F::pss_shmem, *memory.get(F::rss_shmem));
  return sample;
}

}  // namespace

TEST_CASE("a pool: processes of one parent and image that have much shared memory, from four on") {
  const Server server(5);
  REQUIRE(server.pools().size() == 1);
  CHECK(server.pools()[0].members.size() == 5);
  CHECK_FALSE(server.pools()[0].shares);
  CHECK(server.pools()[0].room == kPoolReadings);
  CHECK(Server(3).pools().empty());

  auto members = server.members();
  members[0].parent_pid = 101;
  members[1].comm = "other";
  CHECK(find_pools(members, kNow).empty());
  for (PoolMember& member : members) member = {1, "postgres", member.now, nullptr};
  CHECK(find_pools(members, kNow).empty());
  const ProcessMemory little = backend_counters(900);
  const ProcessMemory most_else = backend_counters(40'000, 8'000, 200'000);
  for (const ProcessMemory* const memory : {&little, &most_else}) {
    members = server.members();
    for (PoolMember& member : members) member.now = memory;
    CHECK(find_pools(members, kNow).empty());
  }
}

TEST_CASE("a pool: none if readings lack the parts of PSS, before Linux 5.3") {
  Server server(5);
  server.readings[0] = backend_reading(2, 1'000);
  CHECK(server.pools().size() == 1);
  server.readings[0]->memory.clear(F::pss_shmem);
  CHECK(server.pools().empty());
}

TEST_CASE("a pool: the shares are from the newest readings, of which there are few per minute") {
  Server server(10);
  server.readings[0] = backend_reading(2, 3'600'000);
  server.readings[1] = backend_reading(10, 70'000);
  server.readings[2] = backend_reading(10, 59'000);
  server.readings[3] = backend_reading(10, 1'000);
  const Pool pool = server.pools().at(0);
  CHECK(pool.room == 1);
  REQUIRE(pool.shares);
  CHECK(pool.shares->shmem == Approx(0.1));
  CHECK(pool.shares->file == Approx(0.1));
  CHECK(pool.shares->anonymous == Approx(0.5));
}

TEST_CASE("a pool: a process without readings is estimated from its siblings") {
  PoolShares shares{0.5, 0.1, 0.05};
  shares.private_anonymous = 0.25;
  shares.shared_swap_kib = 85'000;
  ProcessMemory counted = backend_counters();
  counted.set(F::vm_swap, 30'000);
  ProcessSample sample = approximated(counted);
  estimate_by_siblings(shares, nullptr, sample);
  CHECK(sample.source == Source::estimated);
  CHECK(uss_kib(sample.memory) == 1'000);
  CHECK(sample.memory.get(F::swap) == 115'000);
  CHECK(sample.memory.get(F::swap_pss) == 30'000);
  CHECK(sample.memory.get(F::pss_shmem) == 2'000);
  CHECK(sample.memory.get(F::pss_file) == 800);
  CHECK(sample.memory.get(F::pss_anon) == 2'000);
  CHECK(sample.memory.get(F::pss) == 4'800);
  // It is unknown if its anonymous memory is shared.
  ProcessSample alone = approximated(backend_counters());
  estimate_by_siblings({1, 0.1, 0.05}, nullptr, alone);
  CHECK(alone.memory.get(F::pss_anon) == 3'996);
  CHECK(pss_bounds(alone).min_kib == 0);
}

TEST_CASE("a pool: pages newer than a member's reading have the siblings' share") {
  const PoolShares shares{0.5, 0.1, 0.05};
  const ExactReading last = backend_reading(4, 100'000);
  ProcessSample sample;
  sample.memory = backend_counters(80'000);
  estimate(last, true, sample);
  CHECK(sample.memory.get(F::pss_shmem) == 20'000);
  estimate_by_siblings(shares, &last, sample);
  CHECK(sample.memory.get(F::pss_shmem) == 10'000 + 2'000);
  CHECK(sample.memory.get(F::pss_file) == 2'000);
  CHECK(sample.memory.get(F::pss) == 2'000 + 2'000 + 12'000);
  // Freed pages were shared in proportion.
  ProcessSample less;
  less.memory = backend_counters(20'000);
  estimate(last, true, less);
  const ProcessMemory before = less.memory;
  estimate_by_siblings(shares, &last, less);
  CHECK(less.memory == before);
}

// 200 backends share 1 GB. In each tick some start and exit, so that every backend has a relative that changed.
TEST_CASE("a pool: a few members are read in rotation, the others are as accurate") {
  constexpr std::size_t kBackends = 200;
  Server server(kBackends);
  std::vector<int> readings(kBackends);
  std::int64_t now_ms = kNow;
  std::int64_t off_kib = 0;
  std::int64_t all_kib = 0;
  for (int tick = 0; tick < 6 * 180; ++tick) {
    now_ms += 10'000;
    // Each backend's share depends on the number of backends.
    const auto part = static_cast<std::int64_t>(150 + tick % 100);
    for (ProcessMemory& memory : server.memories) {
      memory = backend_counters(1'000'000);
    }
    const auto members = server.members();
    const auto pools = find_pools(members, now_ms);
    REQUIRE(pools.size() == 1);
    std::vector<ReadCandidate> needs;
    for (std::size_t i = 0; i < kBackends; ++i) {
      const auto& last = server.readings[i];
      needs.push_back({.unread = !last,
                       .touched_kib = last ? 125'000 : 0,
                       .rss_kib = 1'012'000,
                       .pss_kib = 10'000,
                       .age_ms = now_ms - (last ? last->at_ms : kNow),
                       .cost = {10'000, 10'000},
                       .pool = 0});
    }
    const ReadSelection choice = choose(needs, 1'000'000'000, pools);
    CHECK(choice.chosen.size() <= kPoolReadings);
    CHECK(choice.deferred == 0);
    for (const std::size_t i : choice.chosen) {
      ++readings[i];
      server.readings[i] = backend_reading(part, 0, backend_counters(1'000'000));
      server.readings[i]->at_ms = now_ms;
    }
    const auto after = server.members();
    const auto read = find_pools(after, now_ms);
    for (std::size_t i = 0; i < kBackends; ++i) {
      if (server.readings[i]) continue;
      ProcessSample sample = approximated(server.memories[i]);
      estimate_by_siblings(*read[0].shares, nullptr, sample);
      off_kib += std::abs(*sample.memory.get(F::pss_shmem) - 1'000'000 / part);
      all_kib += 1'000'000 / part;
    }
  }
  CHECK(std::ranges::min(readings) >= 1);
  const auto sum = std::accumulate(readings.begin(), readings.end(), 0);
  CHECK(sum <= 3 * 180 + 3);
  CHECK(sum >= 3 * 175);
  CHECK(off_kib < all_kib / 20);
}

TEST_CASE("a pool: readings stay within the budget") {
  Server server(8);
  const auto pools = server.pools();
  std::vector<ReadCandidate> needs(8, ReadCandidate{.unread = true, .rss_kib = 100'000, .pool = 0});
  CHECK(choose(needs, 1, pools).chosen.size() == 1);
  CHECK(choose(needs, 1, pools).deferred == 2);
  CHECK(choose(needs, 1'000'000, pools).chosen.size() == 3);
  needs[6].pool = needs[7].pool = ReadCandidate::kNoPool;
  CHECK(choose(needs, 1'000'000, pools).chosen == std::vector<std::size_t>{0, 1, 2, 6, 7});
}
