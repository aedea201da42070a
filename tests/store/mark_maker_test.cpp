#include <algorithm>

#include "store/marks/maker.h"
#include "support/catch.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kFirstDay = 20'000 * 86'400'000LL;

ProcessMemory memory_of(std::int64_t pss_kib) {
  ProcessMemory memory;
  memory.set(ProcessField::pss, pss_kib);
  return memory;
}

std::optional<Mark> find(const std::vector<Mark>& marks, SubjectKind kind, std::int64_t id, Metric metric) {
  const auto found = std::ranges::find_if(
      marks, [&](const Mark& mark) { return mark.subject == kind && mark.subject_id == id && mark.metric == metric; });
  return found == marks.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::int64_t> value_of(const std::vector<Mark>& marks, SubjectKind kind, std::int64_t id, Metric metric) {
  const auto mark = find(marks, kind, id, metric);
  return mark ? std::optional(mark->value_kib) : std::nullopt;
}

// Makes a tick with a PSS of process 1, which belongs to identity 1 and to a cgroup.
std::vector<Mark> tick_with(MarkMaker& maker, std::int64_t at_ms, std::int64_t cgroup_id, std::int64_t pss_kib) {
  const MarkTime time{at_ms, at_ms - 10'000};
  maker.begin_tick(time);
  maker.observe_process(1, {1, cgroup_id}, memory_of(pss_kib), Source::exact, time);
  return maker.end_tick();
}

}  // namespace

TEST_CASE("a mark is raised only by a higher value, and again on a new day") {
  MarkMaker maker;
  CHECK(value_of(tick_with(maker, kFirstDay + 10'000, 7, 500), SubjectKind::process, 1, Metric::pss) == 500);
  CHECK(tick_with(maker, kFirstDay + 20'000, 7, 500).empty());
  CHECK(tick_with(maker, kFirstDay + 30'000, 7, 400).empty());
  const auto raised = tick_with(maker, kFirstDay + 40'000, 7, 501);
  const auto mark = find(raised, SubjectKind::process, 1, Metric::pss);
  REQUIRE(mark);
  CHECK(mark->value_kib == 501);
  CHECK(mark->day_ms == kFirstDay);
  CHECK(mark->time.at_ms == kFirstDay + 40'000);
  CHECK(mark->time.before_ms == kFirstDay + 30'000);
  CHECK(mark->time.by == Origin::sample);
  CHECK(maker.begin_tick({kFirstDay + 86'400'000, kFirstDay + 86'390'000}));
  // On a new day sums are raised even if no process changed.
  CHECK(value_of(maker.end_tick(), SubjectKind::cgroup, 7, Metric::pss) == 501);
}

TEST_CASE("sums follow processes that change, change their cgroup and exit") {
  MarkMaker maker;
  tick_with(maker, kFirstDay + 10'000, 7, 500);
  const auto second = [&](std::int64_t at_ms, std::int64_t pss_kib) {
    maker.begin_tick({at_ms, at_ms - 10'000});
    maker.observe_process(2, {1, 7}, memory_of(pss_kib), Source::exact, {at_ms, at_ms - 10'000});
    return maker.end_tick();
  };
  auto raised = second(kFirstDay + 20'000, 100);
  CHECK(value_of(raised, SubjectKind::cgroup, 7, Metric::pss) == 600);
  CHECK(value_of(raised, SubjectKind::identity, 1, Metric::pss) == 600);
  // The process has moved to another cgroup; its identity is the same.
  raised = tick_with(maker, kFirstDay + 30'000, 8, 550);
  CHECK(value_of(raised, SubjectKind::cgroup, 8, Metric::pss) == 550);
  CHECK(value_of(raised, SubjectKind::identity, 1, Metric::pss) == 650);
  CHECK(!value_of(raised, SubjectKind::cgroup, 7, Metric::pss));
  CHECK(value_of(second(kFirstDay + 40'000, 601), SubjectKind::cgroup, 7, Metric::pss) == 601);
  maker.begin_tick({kFirstDay + 50'000, kFirstDay + 40'000});
  maker.remove_process(1);
  CHECK(maker.end_tick().empty());
  CHECK(value_of(second(kFirstDay + 60'000, 1200), SubjectKind::identity, 1, Metric::pss) == 1200);
}

TEST_CASE("a value between ticks counts for its own day") {
  MarkMaker maker;
  tick_with(maker, kFirstDay + 10'000, 7, 500);
  maker.begin_tick({kFirstDay + 20'000, kFirstDay + 10'000});
  maker.observe(SubjectKind::category, 3, Metric::rss, 900, {kFirstDay - 5, kFirstDay - 10, Origin::scan});
  maker.observe_exit(5, {1, 7}, 800, {kFirstDay + 15'000, kFirstDay + 10'000, Origin::exit});
  const auto raised = maker.end_tick();
  const auto before = find(raised, SubjectKind::category, 3, Metric::rss);
  REQUIRE(before);
  CHECK(before->day_ms == kFirstDay - 86'400'000);
  CHECK(value_of(raised, SubjectKind::process, 5, Metric::hwm) == 800);
  CHECK(value_of(raised, SubjectKind::identity, 1, Metric::hwm) == 800);
  CHECK(find(raised, SubjectKind::identity, 1, Metric::hwm)->time.by == Origin::exit);
}

TEST_CASE("RSS that replaces an unread PSS raises sums, but not the mark of the process") {
  MarkMaker maker;
  const MarkTime time{kFirstDay + 10'000, kFirstDay};
  maker.begin_tick(time);
  maker.observe_process(1, {1, 7}, memory_of(500), Source::approximate, time);
  const auto raised = maker.end_tick();
  CHECK(!value_of(raised, SubjectKind::process, 1, Metric::pss));
  CHECK(value_of(raised, SubjectKind::cgroup, 7, Metric::pss) == 500);
}

}  // namespace memoir::test
