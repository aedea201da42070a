// Mapping summaries: a query for a tick returns the last summaries that were written up to it.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <array>
#include <map>

#include "random_history.h"
#include "store/mappings.h"
#include "store_fixture.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

using F = ProcessField;
using Summaries = std::map<ProcessKey, ProcessMappings>;

constexpr std::array kLabels{"", "[heap]", "/usr/lib/libc.so.6", "/a b (deleted)", "/\x01\n\x1b[31m ü", "[anon:x]"};

std::int64_t some(RandomHistory& history) {
  return history.number(0, history.chance(0.5) ? 3 : 1LL << 50);
}

MappingUse random_use(RandomHistory& history) {
  MappingUse use;
  use.regions = history.number(1, 9);
  use.size_kib = some(history);
  use.shared_swap_kib = history.chance(0.8) ? 0 : some(history);
  if (history.chance(0.2)) use.object_kib = some(history);
  for (const F field :
       {F::rss, F::pss, F::shared_clean, F::shared_dirty, F::private_clean, F::private_dirty, F::swap, F::swap_pss}) {
    if (history.chance(0.8)) use.memory.set(field, some(history));
  }
  // The values are consistent, as the kernel's are, so that omitted columns are tested too.
  const std::int64_t own = use.memory.or_zero(F::private_clean) + use.memory.or_zero(F::private_dirty);
  if (history.chance(0.6)) use.memory.set(F::pss, own);
  if (history.chance(0.6))
    use.memory.set(F::rss, own + use.memory.or_zero(F::shared_clean) + use.memory.or_zero(F::shared_dirty));
  return use;
}

// Derives a summary from the previous one: some rows stay the same, some are removed.
MappingSummary random_summary(RandomHistory& history, const MappingSummary& before) {
  std::map<std::pair<MappingKind, std::string>, MappingUse> rows;
  for (const MappingRow& row : before.rows) rows[{row.name.kind, row.name.label}] = row.use;
  MappingSummary summary = before;
  for (const MappingKind kind : {MappingKind::anonymous, MappingKind::file, MappingKind::memfd}) {
    for (const char* label : kLabels) {
      if (history.chance(0.2)) rows[{kind, label}] = random_use(history);
      if (history.chance(0.1)) rows.erase({kind, label});
    }
    MappingUse& others = summary.others[static_cast<std::size_t>(kind)];
    if (history.chance(0.3)) others = history.chance(0.5) ? random_use(history) : MappingUse{};
  }
  summary.rows.clear();
  for (const auto& [name, use] : rows) summary.rows.push_back({{name.first, name.second}, use});
  std::ranges::sort(summary.rows, ranks_before);
  return summary;
}

ProcessMappings random_word(RandomHistory& history, const ProcessKey& key, const Summaries& before) {
  ProcessMappings word{.process = key};
  if (history.chance(0.3)) {
    word.state = static_cast<MappingState>(history.number(1, 3));
    return word;
  }
  const auto old = before.find(key);
  word.summary = random_summary(history, old == before.end() ? MappingSummary{} : old->second.summary);
  word.read_ms = history.now().wall_ms;
  word.regions = history.number(0, 70'000);
  word.cpu_us = history.number(0, 1'000'000);
  word.wall_us = history.number(0, 1'000'000);
  return word;
}

// Applies a report to the state.
void take(const ProcessMappings& word, Summaries& holding) {
  if (word.state == MappingState::exact) {
    holding[word.process] = word;
  } else if (word.state == MappingState::dropped) {
    holding.erase(word.process);
  } else {
    ProcessMappings& held = holding[word.process];
    held.process = word.process;
    held.state = word.state;
  }
}

Summaries read_at(Reader& reader, std::int64_t tick_id) {
  Summaries summaries;
  for (MappingsAt& at : must(load_summaries(reader, tick_id))) {
    const auto one = must(load_summaries(reader, tick_id, at.process_id));
    REQUIRE_OF_MANY(one.size() == 1);
    REQUIRE_OF_MANY(one[0].summary == at.summary);
    summaries[at.summary.process] = std::move(at.summary);
  }
  return summaries;
}

std::int64_t one_of(const std::string& path, const char* sql) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  return database.execAndGet(sql).getInt64();
}

// Checks that the views have the same summaries.
void compare_views(SQLite::Database& database, std::int64_t tick_id, const Summaries& summaries) {
  std::size_t rows = 0;
  std::int64_t regions = 0;
  for (const auto& [key, of] : summaries) {
    for (const MappingRow& row : of.summary.rows) regions += row.use.regions;
    for (const MappingUse& use : of.summary.others) regions += use.regions;
    SQLite::Statement pss(
        database,
        "SELECT rss_kib, pss_kib FROM mapping_at WHERE tick_id = ? AND kind = ? AND label = ? AND "
        "process_id IN (SELECT id FROM process WHERE pid = ? AND start_ticks = ? AND exec_count = ?)");
    for (const auto& [name, use] : of.summary.rows) {
      pss.reset();
      pss.bind(1, tick_id);
      pss.bind(2, std::string(to_string(name.kind)));
      pss.bind(3, name.label);
      pss.bind(4, key.pid);
      pss.bind(5, static_cast<std::int64_t>(key.start_ticks));
      pss.bind(6, key.exec_count);
      REQUIRE_OF_MANY(pss.executeStep());
      const auto value = [&](int column) {
        return pss.getColumn(column).isNull() ? std::nullopt : std::optional(pss.getColumn(column).getInt64());
      };
      REQUIRE_OF_MANY(value(0) == use.memory.get(F::rss));
      REQUIRE_OF_MANY(value(1) == use.memory.get(F::pss));
      ++rows;
    }
  }
  const auto total = [&](const char* sql) {
    SQLite::Statement statement(database, sql);
    statement.bind(1, tick_id);
    REQUIRE(statement.executeStep());
    return statement.getColumn(0).getInt64();
  };
  REQUIRE(total("SELECT COUNT(*) FROM mapping_summary_at WHERE tick_id = ?") ==
          static_cast<std::int64_t>(summaries.size()));
  REQUIRE(total("SELECT COUNT(*) FROM mapping_at WHERE tick_id = ? AND label IS NOT NULL") ==
          static_cast<std::int64_t>(rows));
  REQUIRE(total("SELECT COALESCE(SUM(regions), 0) FROM mapping_at WHERE tick_id = ?") == regions);
}

void check_history(std::uint32_t seed) {
  const StoreFixture fixture;
  RandomHistory history(seed);
  std::vector<Summaries> expected;
  const auto runs = history.number(1, 3);
  for (std::int64_t run = 0; run < runs; ++run) {
    if (run > 0) history.restart(history.chance(0.3));
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(history.boot(), history.now())));
    Summaries holding;
    const auto count = history.number(1, 40);
    for (std::int64_t i = 0; i < count; ++i) {
      if (history.chance(0.1)) history.lose_tick();
      Tick tick = history.next();
      std::erase_if(holding, [&](const auto& of) {
        return !std::ranges::binary_search(tick.processes, of.first, {}, &ProcessSample::key);
      });
      for (const ProcessSample& sample : tick.processes) {
        if (history.chance(0.15)) tick.summaries.push_back(random_word(history, sample.key, holding));
      }
      for (const ProcessMappings& word : tick.summaries) take(word, holding);
      if (history.chance(0.1)) tick.summaries.push_back({.process = {1'000'000, 1, 1}});  // an unknown process
      must(writer->write(tick));
      expected.push_back(holding);
    }
  }
  const auto reader = fixture.reader();
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("seed " << seed << ", tick " << i + 1);
    REQUIRE(read_at(*reader, static_cast<std::int64_t>(i) + 1) == expected[i]);
    if (i % 5 == seed % 5) compare_views(database, static_cast<std::int64_t>(i) + 1, expected[i]);
  }
}

}  // namespace

TEST_CASE("mappings: a tick has the summaries written up to it, over random histories") {
  for (std::uint32_t seed = 1; seed <= trials(60U); ++seed) check_history(seed);
}

TEST_CASE("mappings: an unchanged reading uses one row, and more rows only at keyframes") {
  const StoreFixture fixture;
  RandomHistory history(7);
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(history.boot(), history.now())));
  Tick tick = history.next();
  tick.keyframe = true;
  tick.processes.resize(1);
  ProcessMappings summary{.process = tick.processes[0].key, .read_ms = 1, .regions = 9};
  summary.summary.rows = {{{MappingKind::heap, "[heap]"}, random_use(history)},
                          {{MappingKind::file, "/a"}, random_use(history)}};
  tick.summaries = {summary};
  must(writer->write(tick));
  tick.keyframe = false;
  for (int i = 0; i < 5; ++i) {
    tick.begin.wall_ms += 10'000;
    tick.summaries[0].read_ms = 2 + i;
    must(writer->write(tick));
  }
  ++tick.summaries[0].summary.rows[1].use.size_kib;
  must(writer->write(tick));
  tick.summaries.clear();
  must(writer->write(tick));
  CHECK(one_of(fixture.path(), "SELECT COUNT(*) FROM mapping_summary") == 7);
  CHECK(one_of(fixture.path(), "SELECT COUNT(*) FROM mapping_sample") == 3);
  tick.keyframe = true;
  must(writer->write(tick));
  CHECK(one_of(fixture.path(), "SELECT COUNT(*) FROM mapping_summary") == 8);
  CHECK(one_of(fixture.path(), "SELECT COUNT(*) FROM mapping_sample") == 5);
  CHECK(one_of(fixture.path(), "SELECT COUNT(*) FROM mapping") == 2);
}

TEST_CASE("mappings: a file without readings reports that") {
  const StoreFixture fixture;
  fixture.writer();
  CHECK_FALSE(must(has_summaries(*fixture.reader())));
  CHECK(must(load_summaries(*fixture.reader(), 1)).empty());
}

}  // namespace memoir::test
