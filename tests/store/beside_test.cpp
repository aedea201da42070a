// Values that are 0 for most processes and categories have rows in side tables, with the same key.

#include <SQLiteCpp/SQLiteCpp.h>

#include "random_history.h"
#include "store/rows/columns.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

std::int64_t count(SQLite::Database& database, const std::string& of) {
  return database.execAndGet("SELECT COUNT(*) FROM " + of).getInt64();
}

// Checks that no side row is without a main row, and that none has only default values.
void check_needed(SQLite::Database& database) {
  CHECK(count(database,
              "process_rare LEFT JOIN process_state AS s USING (tick_id, process_id) WHERE s.state IS NULL") == 0);
  CHECK(
      count(database,
            "process_detail WHERE (tick_id, process_id) IN (SELECT tick_id, process_id FROM process_rare) AND "
            "(lazy_free_kib, shmem_pmd_mapped_kib, file_pmd_mapped_kib, shared_hugetlb_kib, private_hugetlb_kib, "
            "swap_pss_kib, locked_kib) IS (anon_huge_pages_kib * 0, anon_huge_pages_kib * 0, anon_huge_pages_kib * 0, "
            "anon_huge_pages_kib * 0, anon_huge_pages_kib * 0, anon_huge_pages_kib * 0, anon_huge_pages_kib * 0) "
            "AND (swap_kib, vm_lck_kib, vm_pin_kib, vm_swap_kib, hugetlb_pages_kib) IS "
            "(vm_size_kib * 0, vm_size_kib * 0, vm_size_kib * 0, vm_size_kib * 0, vm_size_kib * 0)") == 0);
  CHECK(count(database,
              "category_swap LEFT JOIN category_total AS t USING (tick_id, category_id) WHERE t.processes IS NULL OR "
              "(swap_kib, swap_pss_kib, shared_swap_kib) = (0, 0, 0)") == 0);
}

}  // namespace

TEST_CASE("side rows: any history has them only for values that differ from the default") {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const StoreFixture fixture;
    RandomHistory history(seed);
    {
      const auto writer = fixture.writer();
      must(writer->begin_run(run_info(history.boot(), history.now())));
      for (int i = 0; i < 60; ++i) must(writer->write(history.next()));
      must(writer->end_run(history.now(), "stopped"));
    }
    SQLite::Database database(fixture.path());
    CHECK(count(database, "process_rare") > 0);
    check_needed(database);
  }
}

TEST_CASE("side rows: each value is read back, whether other columns are known or null") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 1, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  std::int64_t ticks = 0;
  for (const ProcessField field : kRareProcessFields) {
    for (const std::optional<std::int64_t> value :
         {std::optional<std::int64_t>(), std::optional<std::int64_t>(0), std::optional<std::int64_t>(4)}) {
      for (const int known : {0, 1, 2, 3}) {
        Tick tick = simulation.next();
        REQUIRE(tick.processes.size() == 1);
        ProcessMemory& memory = tick.processes.front().memory;
        if ((known & 1) == 0) memory.set(ProcessField::anon_huge_pages, std::nullopt);
        if ((known & 2) == 0) memory.set(ProcessField::vm_size, std::nullopt);
        if (value == 4) memory.set(ProcessField::vm_peak, std::nullopt);
        for (const ProcessField other : kRareProcessFields) memory.set(other, usual_value(memory, other));
        memory.set(field, value);
        must(writer->write(tick));
        CAPTURE(static_cast<int>(field), known, value.value_or(-1));
        const Snapshot snapshot = must(fixture.reader()->snapshot(++ticks));
        REQUIRE(snapshot.processes.size() == 1);
        CHECK(snapshot.processes.front().sample.memory == memory);
      }
    }
  }
}

TEST_CASE("side rows: a machine without swap has none, and its values are zeros") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 20});
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    for (int i = 0; i < 30; ++i) must(writer->write(simulation.next()));
    must(writer->end_run(simulation.now(), "stopped"));
  }
  SQLite::Database database(fixture.path());
  CHECK(count(database, "process_rare") == 0);
  CHECK(count(database, "category_swap") == 0);
  CHECK(count(database, "process_detail") > 20);
  CHECK(count(database,
              "process_detail WHERE (swap_kib, vm_swap_kib, locked_kib, hugetlb_pages_kib) IS NOT (0, 0, 0, 0)") == 0);
  CHECK(count(database, "category_sample WHERE (swap_kib, swap_pss_kib, shared_swap_kib) <> (0, 0, 0)") == 0);
}

}  // namespace memoir::test
