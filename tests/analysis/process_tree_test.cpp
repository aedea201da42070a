#include "analysis/process_tree.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::nullopt_t root = std::nullopt;

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Tally holding(std::int64_t kib) {
  ProcessSample sample;
  sample.source = Source::exact;
  for (const ProcessField field : {ProcessField::pss, ProcessField::rss}) sample.memory.set(field, kib);
  Tally tally;
  tally.add(sample);
  return tally;
}

// Pids are drawn from a small set, parents and starts at random. This gives orphans, reused pids and cycles of any
// length.
std::vector<TreeProcess> random_processes(std::mt19937& random) {
  const int count = std::uniform_int_distribution<int>(0, 60)(random);
  std::uniform_int_distribution<std::int32_t> parent(0, count + 3);
  std::uniform_int_distribution<std::uint64_t> start(0, 2);
  std::vector<TreeProcess> processes;
  for (std::int32_t pid = 1; pid <= count; ++pid) processes.push_back({pid, parent(random), start(random)});
  return processes;
}

}  // namespace

TEST_CASE("process tree: children are below their parents, siblings by rank") {
  const std::vector<TreeProcess> processes{{1, 0, 1}, {10, 1, 2}, {11, 1, 3}, {12, 10, 4}, {13, 11, 5}};
  const Parents parents = parents_of(processes);
  CHECK(parents == Parents{root, 0, 0, 1, 2});
  CHECK(depth_first(parents, in_order(5)) == std::vector<std::size_t>{0, 1, 3, 2, 4});
  CHECK(depth_first(parents, std::vector<std::size_t>{4, 3, 2, 1, 0}) == std::vector<std::size_t>{0, 2, 4, 1, 3});
  CHECK(depths_of(parents) == std::vector<std::size_t>{0, 1, 1, 2, 2});
}

TEST_CASE("process tree: a process without a parent, its own parent, or older than its parent is a root") {
  CHECK(parents_of({}).empty());
  CHECK(parents_of(std::vector<TreeProcess>{{7, 6, 1}, {8, 0, 1}, {9, 9, 1}}) == Parents{root, root, root});
  // Pid 5 was reused after its child started. A process that started within the same 10 ms may be a parent.
  CHECK(parents_of(std::vector<TreeProcess>{{5, 1, 100}, {6, 5, 99}, {7, 5, 100}}) == Parents{root, root, 0});
}

TEST_CASE("process tree: a cycle of any length has one root and keeps its subtrees") {
  for (std::int32_t length = 1; length <= 20; ++length) {
    CAPTURE(length);
    std::vector<TreeProcess> processes;
    for (std::int32_t i = 0; i < length; ++i) processes.push_back({1 + i, 1 + (i + 1) % length, 7});
    processes.push_back({100, 1, 7});
    processes.push_back({101, 100, 7});
    // The order of the processes does not matter.
    for (const bool reversed : {false, true}) {
      if (reversed) std::ranges::reverse(processes);
      const Parents parents = parents_of(processes);
      CHECK(std::ranges::count(parents, Parents::value_type()) == 1);
      CHECK(depth_first(parents, in_order(parents.size())).size() == parents.size());
    }
  }
}

TEST_CASE("process tree: each process occurs once, and the roots add up to the total") {
  std::mt19937 random(20261123);
  for (int round = 0; round < 500; ++round) {
    const std::vector<TreeProcess> processes = random_processes(random);
    CAPTURE(round, processes.size());
    const Parents parents = parents_of(processes);
    std::vector<Tally> held;
    std::int64_t all_kib = 0;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const std::int64_t kib = std::uniform_int_distribution<std::int64_t>(0, 1000)(random);
      all_kib += kib;
      held.push_back(holding(kib));
    }
    std::vector<std::size_t> ranked = in_order(processes.size());
    std::ranges::shuffle(ranked, random);
    const auto order = depth_first(parents, ranked);
    CHECK(order.size() == processes.size());
    CHECK(std::set(order.begin(), order.end()).size() == processes.size());

    const std::vector<Tally> sums = subtree_sums(parents, held);
    std::int64_t roots_kib = 0;
    std::int64_t roots_processes = 0;
    std::set<std::size_t> seen;
    for (const std::size_t i : order) {
      if (parents[i]) {
        CHECK(seen.contains(*parents[i]));
        CHECK(*sums[i].kib(Metric::pss) <= *sums[*parents[i]].kib(Metric::pss));
      } else {
        roots_kib += *sums[i].kib(Metric::pss);
        roots_processes += sums[i].processes();
      }
      seen.insert(i);
    }
    CHECK(roots_kib == all_kib);
    CHECK(roots_processes == static_cast<std::int64_t>(processes.size()));
  }
}

TEST_CASE("process tree: the longest possible chain needs no deep stack") {
  constexpr std::int32_t length = 100'000;
  std::vector<TreeProcess> processes;
  processes.reserve(length);
  for (std::int32_t pid = length; pid >= 1; --pid) processes.push_back({pid, pid - 1, static_cast<std::uint64_t>(pid)});
  const Parents parents = parents_of(processes);
  const auto order = depth_first(parents, in_order(length));
  CHECK(order.front() == length - 1);
  CHECK(order.back() == 0);
  const std::vector<Tally> sums = subtree_sums(parents, std::vector<Tally>(length, holding(2)));
  CHECK(sums[order.front()].kib(Metric::rss) == 2 * length);
  CHECK(sums[order.back()].processes() == 1);
}

TEST_CASE("process tree: levels that are too deep appear next to their parent, in order") {
  const Parents chain{root, 0, 1, 2, 2, 0};
  CHECK(no_deeper(chain, 9) == chain);
  CHECK(no_deeper(chain, 2) == Parents{root, 0, 1, 1, 1, 0});
  CHECK(no_deeper(chain, 1) == Parents{root, 0, 0, 0, 0, 0});
  CHECK(no_deeper(chain, 0) == Parents(6));
}

TEST_CASE("process tree: ancestors and descendants") {
  const Parents parents{root, 0, 1, 0, 3, root};
  using Rows = std::vector<bool>;
  CHECK(with_ancestors(parents, Rows{false, false, true, false, false, false}) ==
        Rows{true, true, true, false, false, false});
  CHECK(with_descendants(parents, Rows{false, false, false, true, false, false}) ==
        Rows{false, false, false, true, true, false});
}
