// memoir memory: its answers in each format, from ticks, from rollups and in gaps.

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "support/catch.h"

namespace memory_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;
using M = MachineField;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kRest = 173'820;

// Values that Linux 6.18 printed, with some swap added.
void set_machine(History& history) {
  history.machine(728'860, 2'048);
  for (const auto& [field, kib] : std::vector<std::pair<M, std::int64_t>>{
           {M::mem_total, 24'684'092},
           {M::mem_free, 23'633'544},
           {M::buffers, 4'648},
           {M::cached, 557'972},
           {M::swap_cached, 0},
           {M::active, 240'924},
           {M::inactive, 525'892},
           {M::unevictable, 19'628},
           {M::zswap, 0},
           {M::zswapped, 0},
           {M::anon_pages, 208'140},
           {M::shmem, 66'352},
           {M::kernel_reclaimable, 64'580},
           {M::slab_reclaimable, 64'580},
           {M::slab_unreclaimable, 23'112},
           {M::kernel_stack, 1'684},
           {M::page_tables, 3'120},
           {M::vmalloc_used, 14'492},
           {M::percpu, 664},
           {M::anon_huge_pages, 4'096},
           {M::hugetlb, 0},
           {M::tmpfs, 60'000},
           {M::sysv, 1'024},
       })
    history.machine(field, kib);
}

void record(History& history) {
  history.begin_run();
  set_machine(history);
  history.birth(201, {"postgres", "postgres: main app", "database"}, 120 * kMib);
  history.birth(301, {"secret", "secret"}, 8 * kMib);
  history.approximate(301);
  history.tick(12);
  history.machine(M::mem_free, 23'633'544 - 1000 * kMib);  // a driver leaks memory
  history.tick(60);
}

std::int64_t sum(const json& answer) {
  std::int64_t total = 0;
  for (const json& row : answer.at("rows"))
    total += row.at("of").is_null() && !row.at("kib").is_null() ? row.at("kib").get<std::int64_t>() : 0;
  return total;
}

json line(const json& rows, const std::string& name) {
  for (const json& row : rows) {
    if (row.at("name") == name) return row;
  }
  FAIL("no line " << name);
  return {};
}

}  // namespace

TEST_CASE("memory: golden answers") {
  test::check_formats("memory", recorded<record>(), {"memory", "--at", "2026-11-19 00:01"});
}

TEST_CASE("memory: the remainder grows by lost memory, and trend has it as a series") {
  const json before = json_of(recorded<record>(), {"memory", "--at", "2026-11-19 00:01"});
  const json after = json_of(recorded<record>(), {"memory"});
  CHECK(sum(before) == 24'684'092);
  CHECK(sum(after) == 24'684'092);
  CHECK(line(before["rows"], "unaccounted")["kib"] == kRest);
  CHECK(line(after["rows"], "unaccounted")["kib"] == kRest + 1000 * kMib);
  const json trend = json_of(recorded<record>(), {"trend", "machine", "--by", "unaccounted", "--day", "2026-11-19"});
  CHECK(trend["min_kib"] == kRest);
  CHECK(trend["max_kib"] == kRest + 1000 * kMib);
}

TEST_CASE("memory: anonymous memory that no readable process accounts for is shown") {
  const json answer = json_of(recorded<record>(), {"memory"});
  CHECK(line(answer["processes"], "pss_anon")["kib"] == 128 * kMib);
  CHECK(line(answer["processes"], "anon_elsewhere")["kib"] == 208'140 - 128 * kMib);
  CHECK(answer["totals"]["processes"] == 2);
  CHECK(answer["totals"]["inexact"] == 1);
  CHECK(line(answer["swap"], "swap_used")["kib"] == 2'048);
}

TEST_CASE("memory: a sum is marked as measured only if it is exact in all processes") {
  History history;
  history.begin_run();
  set_machine(history);
  history.birth(201, {"postgres", "postgres: main app", "database"}, 120 * kMib);
  history.birth(301, {"secret", "secret"}, 8 * kMib);
  history.tick(2);
  const auto how = [&history](const char* name) {
    return line(json_of(history, {"memory"})["processes"], name)["how"].get<std::string>();
  };
  for (const char* name : {"pss", "pss_anon", "uss", "rss", "swap_pss"}) CHECK(how(name) == "measured");
  history.approximate(301);  // its USS becomes unknown
  history.tick(2);
  for (const char* name : {"pss", "pss_anon", "pss_file", "pss_shmem"}) CHECK(how(name) == "estimated");
  for (const char* name : {"uss", "rss", "swap_pss"}) CHECK(how(name) == "measured");
}

TEST_CASE("memory: a bucket has the means, which add up too") {
  History history;
  record(history);
  history.tick(60);
  history.pause(7'200'000);
  history.tick(2);
  history.maintain();
  const json answer = json_of(history, {"memory", "--at", "2026-11-19 00:01", "--tier", "5min"});
  CHECK(answer["tier"] == "5min");
  CHECK(sum(answer) == 24'684'092);
  CHECK(line(answer["processes"], "pss_anon")["kib"].is_null());
  CHECK(line(answer["processes"], "pss")["kib"] == 128 * kMib);
  CHECK(line(answer["processes"], "pss")["how"] == "derived");
  const std::int64_t mean = line(answer["rows"], "unaccounted")["kib"];
  CHECK(mean > kRest);
  CHECK(mean < kRest + 1000 * kMib);
  const json trend = json_of(history, {"trend", "machine", "--by", "unaccounted", "--from", "2026-11-19 00:00", "--to",
                                       "2026-11-19 00:10", "--tier", "5min"});
  CHECK(trend["min_kib"] == kRest);
  CHECK(trend["max_kib"] == kRest + 1000 * kMib);
}

TEST_CASE("memory: overlapping counts and unrecorded times are reported") {
  History history;
  history.begin_run();
  set_machine(history);
  history.machine(M::hugetlb, kMib * kMib);
  history.machine(M::tmpfs, 100'000);
  history.tick(2);
  const json answer = json_of(history, {"memory"});
  CHECK(sum(answer) == 24'684'092 + kMib * kMib - kRest);
  CHECK(line(answer["rows"], "unaccounted")["kib"].is_null());
  CHECK(answer["totals"]["excess_kib"] == kMib * kMib - kRest);
  for (const json& row : answer["rows"]) CHECK(row.at("name") != "other_shmem");
  REQUIRE(answer["warnings"].size() == 1);
  const std::string table = ask(history, {"memory"}).out;
  CHECK(table.find("more than MemTotal") != std::string::npos);
  CHECK(table.find("swapped out") != std::string::npos);
  CHECK(ask(history, {"memory", "--at", "2026-11-18"}).exit == Exit::empty);
}

TEST_CASE("memory: usage outside of processes is shown if it was recorded, otherwise as unknown") {
  History history;
  history.begin_run();
  set_machine(history);
  TmpfsSample mount;
  mount.mount_point = "/tmp";
  mount.walk = TmpfsWalk::cut;
  mount.used_kib = 900;
  mount.walked_ms = history.now_ms();
  mount.content.allocated_kib = 700;
  SysvSegment segment;
  segment.rss_kib = 40;
  segment.swap_kib = 2;
  history.tmpfs({mount});
  history.segments({segment});
  history.malformed(3);
  history.tick(2);
  const json answer = json_of(history, {"memory"});
  CHECK(line(answer["outside"], "tmpfs_used")["kib"] == 900);
  CHECK(line(answer["outside"], "tmpfs_allocated")["kib"] == 700);
  CHECK(line(answer["outside"], "sysv_rss")["kib"] == 40);
  CHECK(line(answer["outside"], "sysv_swap")["kib"] == 2);
  REQUIRE(answer["warnings"].size() == 2);
  CHECK(answer["warnings"][0].get<std::string>().starts_with("/tmp: partial walk"));
  CHECK(answer["warnings"][1].get<std::string>().starts_with("3 lines of kernel files"));
  CHECK(ask(history, {"memory"}).out.find("found by walks") != std::string::npos);
}

}  // namespace memory_test
