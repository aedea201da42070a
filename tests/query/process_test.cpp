// memoir process: one page about one process.

#include <fmt/format.h>
#include <string>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace process_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::ask;
using memoir::test::has;
using memoir::test::History;
using memoir::test::json_of;
using Json = nlohmann::json;

namespace {

const Json& row_with(const Json& rows, const char* name, const Json& value) {
  for (const Json& row : rows) {
    if (row.at(name) == value) return row;
  }
  FAIL("no row with " << name << " " << value);
  return rows;
}

void record(History& history) {
  history.begin_run("bpf");
  history.tell_ends();
  const std::string cgroup = "/system.slice/app.service";
  history.birth(7, {"master", "/usr/bin/app --master", "web", "www", cgroup}, 5000);
  history.birth(8, {"worker", "/usr/bin/app --worker", "web", "www", cgroup}, 9000);
  history.birth(9, {"worker", "/usr/bin/app --worker 2", "web", "www", cgroup}, 1000);
  history.parent(8, 7);
  history.parent(9, 7);
  history.cgroup({cgroup, 16'000, {}, {}, 20'000, {}, {}});
  history.cgroup({"/system.slice", 17'000, {}, {}, {}, {}, {}});
  history.cgroup({"/user.slice", 3'000, {}, {}, {}, {}, {}});
  ProcessMappings summary{.regions = 3};
  MappingUse heap;
  heap.regions = 1;
  heap.size_kib = 6000;
  summary.summary.rows.push_back({{MappingKind::heap, "[heap]"}, heap});
  history.summary(8, summary);
  history.tick(3);
  history.hold(8, 12'000);
  history.tick(2);
  history.hold(8, 8'000);
  history.set(8, ProcessField::swap, 700);
  history.tick(2);
  history.death(9);
  history.tick(2);
}

}  // namespace

TEST_CASE("process: settings are those read last, with the rule that chose the category") {
  History history;
  history.begin_run();
  history.birth(7, {"app", "/usr/bin/app", "web"}, 5000);
  history.settings(7, {"/srv/later", -500, "STACK=8388608:unlimited NOFILE=1024:4096", "command ~ app (line 3)"});
  history.birth(8, {"other", "other"}, 50);
  history.tick(2);
  const Json answer = json_of(history, {"process", "7"});
  CHECK(answer["cwd_now"] == "/srv/later");
  CHECK(answer["oom_score_adj"] == -500);
  CHECK(answer["category_rule"] == "command ~ app (line 3)");
  REQUIRE(answer["limits"].size() == 2);
  CHECK(row_with(answer["limits"], "limit", "STACK")["soft"] == "8388608");
  const std::string table = ask(history, {"process", "7"}).out;
  CHECK(has(table, "8.0 MiB"));
  CHECK(has(table, "command ~ app (line 3)"));
  const Json unknown = json_of(history, {"process", "8"});
  CHECK(unknown["oom_score_adj"].is_null());
  CHECK(unknown["limits"].empty());
}

TEST_CASE("process: a zombie's exit is the one that the kernel reported, and the first line has the highest mark") {
  History history;
  history.begin_run("bpf");
  history.tell_ends();
  history.birth(7, {"app", "/usr/bin/app"}, 5'000);
  history.birth(8, {"parent", "parent"}, 50);
  history.tick(2);
  history.mark(7, 20'480);
  history.tick();
  history.report_exit(7, 3 << 8);
  history.zombie(7);
  history.tick(4);
  history.death(7);
  history.tick();
  const Json page = json_of(history, {"process", "7"});
  CHECK(page["exit_code"] == 3 << 8);
  const std::string at = fmt::format("@{}", History::kStart);
  CHECK(has(ask(history, {"process", "7", "--at", at}).out, "its RSS peaked at 20.0 MiB"));
}

TEST_CASE("process: every field with its source and age, marks, relatives, cgroups, mappings and history") {
  const Json page = json_of(test::recorded<record>(), {"process", "8"});
  CHECK(page["pid"] == 8);
  CHECK(page["command"] == "/usr/bin/app --worker");
  CHECK(page["user"] == "www");
  CHECK(page["category"] == "web");
  CHECK(page["unit"] == "app.service");
  CHECK(page["slice"] == "system.slice");
  CHECK(page["container"].is_null());
  CHECK(page["parent_pid"] == 7);
  CHECK(page["parent"] == "master (7)");
  CHECK(page["threads"].is_number());
  CHECK(page["exit"].is_null());
  CHECK(page["source"] == "exact");
  CHECK(page["age_ms"] == 0);

  CHECK(page["rows"].size() == ProcessMemory::kCount);
  const Json& pss = row_with(page["rows"], "column", "pss_kib");
  CHECK(pss["kib"] == 8'000);
  CHECK(pss["file"] == "smaps_rollup");
  CHECK(pss["source"] == "exact");
  CHECK(pss["age_ms"] == 0);
  const Json& size = row_with(page["rows"], "field", "VmRSS");
  CHECK(size["kib"] == 8'000);
  CHECK(size["file"] == "status");
  const Json& pinned = row_with(page["rows"], "column", "shared_swap_kib");
  CHECK(pinned["kib"].is_null());
  CHECK(pinned["source"].is_null());
  CHECK(row_with(page["rows"], "column", "swap_kib")["kib"] == 700);

  CHECK(row_with(page["marks"], "metric", "PSS")["value_kib"] == 12'000);
  CHECK(page["children"].empty());
  REQUIRE(page["cgroups"].size() == 2);
  CHECK(row_with(page["cgroups"], "cgroup", "/system.slice/app.service")["max_kib"] == 20'000);
  REQUIRE(page["mappings"].size() == 1);
  CHECK(page["mappings"][0]["kind"] == "heap");
  REQUIRE(page["images"].size() == 1);
  std::int64_t highest = 0;
  for (const Json& part : page["history"])
    if (part["pss_max_kib"].is_number()) highest = std::max(highest, part["pss_max_kib"].get<std::int64_t>());
  CHECK(highest == 12'000);

  const Json master = json_of(test::recorded<record>(), {"process", "7"});
  REQUIRE(master["children"].size() == 1);
  CHECK(master["children"][0]["pid"] == 8);
  CHECK(master["children"][0]["pss_kib"] == 8'000);
}

TEST_CASE("process: values are those at the given time, or after its exit the last sample") {
  const History& history = test::recorded<record>();
  const Json before = json_of(history, {"process", "8", "--at", "2026-11-19 00:00:35"});
  CHECK(row_with(before["rows"], "column", "pss_kib")["kib"] == 12'000);
  CHECK(before["at_ms"] == History::kStart + 30'000);
  CHECK(json_of(history, {"process", "7", "--at", "2026-11-19 00:00:35"})["children"].size() == 2);

  const Json exited = json_of(history, {"process", "9"});
  CHECK(exited["exit"].is_string());
  CHECK(exited["exit_kind"] == "ended");
  CHECK(exited["at_ms"] == History::kStart + 60'000);
  CHECK(row_with(exited["rows"], "column", "pss_kib")["kib"] == 1'000);
  const std::string text = test::text_of(history, {"process", "9"});
  CHECK(has(text, "Exit"));
  CHECK(has(text, "Its high-water marks"));
}

TEST_CASE("process: a name selects the only process that has it; several processes are listed") {
  const History& history = test::recorded<record>();
  CHECK(json_of(history, {"process", "master"})["pid"] == 7);
  const Outcome several = ask(history, {"process", "app.service"});
  CHECK(several.exit == Exit::usage);
  CHECK(has(several.error, "app --master"));
  CHECK(has(several.error, "app --worker"));
  CHECK(ask(history, {"process", "4711"}).exit == Exit::empty);
  CHECK(ask(history, {"process", "machine"}).exit == Exit::usage);
  CHECK(json_of(history, {"process"})["pid"] == 8);
}

}  // namespace process_test
