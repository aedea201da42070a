// Answers with more rows than fit into memory: the largest rows are kept, and the others are counted together.

#include <algorithm>
#include <set>

#include "query/commands/peaks/peaks.h"
#include "query/commands/top/top.h"
#include "query/state/limit.h"
#include "query/week.h"
#include "support/catch.h"

namespace bounded_rows_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::raw_week;
using memoir::test::recorded_week;

namespace {

constexpr std::size_t kFew = 3;

struct Opened {
  explicit Opened(const History& history)
      : reader(Reader::open(history.path()).value()), context{options,     *reader,          reader->info().value(),
                                                              {},          history.now_ms(), {},
                                                              std::nullopt} {}

  Options options;
  std::unique_ptr<Reader> reader;
  Context context;
};

Range last_hours(const History& history, std::int64_t hours) {
  return {history.now_ms() - hours * History::kHour, history.now_ms()};
}

std::vector<TopRow> largest_first(TopFold fold) {
  for (TopRow& row : fold.rows) row.summary = row.process ? row.fold.summary() : row.sum->summary();
  const auto held = [](const TopRow& row) {
    return row.summary.mean.value_or(0) * static_cast<double>(row.summary.covered_ms);
  };
  std::ranges::stable_sort(fold.rows, std::greater(), held);
  return std::move(fold.rows);
}

}  // namespace

TEST_CASE("top keeps the largest of too many rows, and the others count in its sums") {
  const std::string group = GENERATE("process", "command", "identity", "category");
  const Tier tier = GENERATE(Tier::raw, Tier::hour);
  CAPTURE(group, to_string(tier));
  const History& history = tier == Tier::raw ? raw_week() : recorded_week();
  Opened opened(history);
  TopQuery question{last_hours(history, 12), tier, Metric::pss, group};
  TopFold all = fold_top(*opened.reader, question, Filter()).value();
  question.max_rows = kFew;
  TopFold few = fold_top(*opened.reader, question, Filter()).value();
  REQUIRE(all.rows.size() > kFew);
  CHECK(all.left_out.count == 0);
  CHECK(few.left_out.count == all.rows.size() - kFew);
  CHECK(few.chosen == all.chosen);
  CHECK(few.held.all == Approx(all.held.all));
  CHECK(few.held.chosen == Approx(all.held.chosen));
  const double left_out = few.held.left_out;
  const std::vector<TopRow> rows = largest_first(std::move(all));
  const std::vector<TopRow> kept = largest_first(std::move(few));
  REQUIRE(kept.size() == kFew);
  double rest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i >= kFew) rest += rows[i].summary.mean.value_or(0) * static_cast<double>(rows[i].summary.covered_ms);
    if (i < kFew) CHECK(kept[i].summary == rows[i].summary);
    if (i < kFew) CHECK(kept[i].name == rows[i].name);
    if (i < kFew) CHECK((kept[i].process != nullptr) == (group == "process"));
  }
  if (group == "process") CHECK(left_out == Approx(rest).margin(1));
}

TEST_CASE("peaks keeps the highest of too many rows, and says how many there are") {
  const std::string group = GENERATE("process", "command");
  const Metric by = GENERATE(Metric::hwm, Metric::pss);
  if (group != "process" && by == Metric::hwm) return;  // hwm comes from stored marks
  const History& history = raw_week();
  Opened opened(history);
  opened.options.limit = 0;
  PeakQuery question;
  question.range = last_hours(history, 12);
  question.group = group;
  question.by = by;
  const Peaks all = peaks_from_steps(opened.context, question).value();
  question.max_rows = kFew;
  const Peaks few = peaks_from_steps(opened.context, question).value();
  REQUIRE(all.rows.size() > kFew);
  CHECK(few.cut.all == all.rows.size());
  CHECK(few.rows.size() >= kFew);
  CHECK(few.rows.size() == few.cut.all - few.left_out.count);
  for (std::size_t i = 0; i < kFew; ++i) {
    CHECK(few.rows[i].name == all.rows[i].name);
    CHECK(few.rows[i].peak == all.rows[i].peak);
  }
  CHECK(few.cut.kib <= few.rows[kFew - 1].peak.value_kib);
}

TEST_CASE("rows that do not fit into memory are noted with their total") {
  Options options;
  options.limit = 0;
  Opened opened(raw_week());
  Context context = opened.context;
  std::vector<std::int64_t> rows{4096, 2048};
  const auto note_of = [&](std::optional<std::int64_t> limit) {
    opened.options.limit = limit;
    Report report;
    std::vector<std::int64_t> shown = rows;
    limit_rows(shown, report, context, [](std::int64_t kib) { return std::optional(kib); },
               {.kib = 1024, .of = "PSS", .beyond_memory = 7});
    return report.left_out.at(0);
  };
  CHECK(note_of(0) == "2 of 9 rows; the other 7 hold 1.0 MiB of PSS (use a shorter range or --filter for more).");
  CHECK(note_of(1) == "1 of 9 rows; the other 8 hold 3.0 MiB of PSS (--limit 0 shows the largest 2).");
}

}  // namespace bounded_rows_test
