// Exports, compared with the states that the reader rebuilds. OpenMetrics is also compared with its specification and,
// if installed, with promtool.

#include "query/commands/export/export.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "store/reader.h"
#include "store/writer.h"
#include "support/catch.h"
#include "support/manual_clock.h"
#include "support/simulation.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

namespace export_test {

using namespace memoir;
using namespace memoir::query;
using nlohmann::json;

namespace {

// A recording with short-lived processes, a killed recorder, a gap, a reboot, and a wall clock that is set back.
class Recording {
 public:
  Recording() {
    begin();
    ticks(60);
    writer_.reset();  // leaves the state after kill -9
    simulation_.pause(200'000);
    begin();
    ticks(40);
    simulation_.step_wall(-90'000);
    ticks(30);
    check(writer_->end_run(simulation_.now(), "stopped"));
    writer_.reset();
    simulation_.reboot();
    begin();
    ticks(20);
  }

  std::string path() const { return directory_.path() + "/memoir.db"; }
  std::int64_t now_ms() const { return simulation_.now().wall_ms; }

 private:
  static void check(const Status& status) { REQUIRE(status.ok()); }

  void begin() {
    auto opened = Writer::open(path(), Durability::normal);
    REQUIRE(opened.ok());
    writer_ = *std::move(opened);
    check(writer_->begin_run({simulation_.boot(), 1, "test", 10'000, simulation_.now()}));
    first_ = true;
  }
  void ticks(int count) {
    for (int i = 0; i < count; ++i) check(writer_->write(simulation_.next(std::exchange(first_, false))));
  }

  test::TemporaryDirectory directory_;
  test::Simulation simulation_{{.processes = 25, .changing = 0.3, .births = 0.4}};
  std::unique_ptr<Writer> writer_;
  bool first_ = true;
};

Recording& recording() {
  static Recording recording;
  return recording;
}

Outcome ask(std::vector<std::string> words) {
  words.insert(words.begin(), "export");
  return test::ask(recording().path(), recording().now_ms(), std::move(words));
}

std::vector<json> lines_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--format", "jsonl", "--last", "1d"});
  const Outcome outcome = ask(all);
  CAPTURE(outcome.error);
  REQUIRE(outcome.exit == Exit::answered);
  std::vector<json> lines;
  std::istringstream in(outcome.out);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

// Ticks in ascending order of time. Ticks at repeated times are omitted: the length of their steps does not follow from
// times alone, so they may have too few samples.
std::vector<StoredTick> ascending_ticks(Reader& reader) {
  const auto all = reader.ticks({0, recording().now_ms() * 2});
  REQUIRE(all.ok());
  std::vector<StoredTick> ticks;
  for (const StoredTick& tick : *all) {
    if (ticks.empty() || tick.begin.wall_ms > ticks.back().begin.wall_ms) ticks.push_back(tick);
  }
  return ticks;
}

json maybe_number(std::optional<std::int64_t> value) {
  return value ? json(*value) : json(nullptr);
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("export: the samples of each tick are the state at that tick") {
  const auto reader = Reader::open(recording().path());
  REQUIRE(reader.ok());
  const std::vector<StoredTick> ticks = ascending_ticks(**reader);
  REQUIRE(ticks.size() > 120);
  std::map<std::int64_t, std::map<std::pair<std::int64_t, std::int64_t>, json>> processes;
  for (json& line : lines_of({"processes"})) {
    processes[line["at_ms"]][{line["pid"], line["exec_count"]}] = line;
  }
  std::map<std::int64_t, std::map<std::string, json>> categories;
  for (json& line : lines_of({"categories"})) categories[line["at_ms"]][line["category"]] = line;
  std::map<std::int64_t, json> machine;
  for (json& line : lines_of({"machine"})) machine[line["at_ms"]] = line;
  CHECK(processes.size() == ticks.size());
  CHECK(categories.size() == ticks.size());
  CHECK(machine.size() == ticks.size());

  const auto comes_again = [&](const StoredTick& tick) {
    return tick.id <= 100 && tick.begin.wall_ms >= ticks.at(100).begin.wall_ms - 90'000 - 10'000;
  };
  for (const StoredTick& tick : ticks) {
    CAPTURE(tick.id);
    const std::int64_t at_ms = tick.begin.wall_ms;
    if (comes_again(tick)) continue;
    const auto snapshot = (*reader)->snapshot(tick.id);
    REQUIRE(snapshot.ok());
    REQUIRE(processes[at_ms].size() == snapshot->processes.size());
    for (const ProcessState& state : snapshot->processes) {
      const ProcessMemory& memory = state.sample.memory;
      const json& line = processes[at_ms][{state.sample.key.pid, state.sample.key.exec_count}];
      CHECK(line["pss_kib"] == maybe_number(memory.get(ProcessField::pss)));
      CHECK(line["vm_rss_kib"] == maybe_number(memory.get(ProcessField::vm_rss)));
      CHECK(line["swap_kib"] == maybe_number(memory.get(ProcessField::swap)));
      CHECK(line["threads"] == state.sample.threads);
    }
    REQUIRE(categories[at_ms].size() == snapshot->categories.size());
    for (const CategorySample& sample : snapshot->categories) {
      CHECK(categories[at_ms][sample.category]["pss_kib"] == sample.pss_kib);
      CHECK(categories[at_ms][sample.category]["processes"] == sample.processes);
    }
    CHECK(machine[at_ms]["mem_free_kib"] == maybe_number(snapshot->machine.memory.get(MachineField::mem_free)));
  }
}

TEST_CASE("export: a step selects ticks, a filter selects processes, and CSV has the same rows") {
  const auto all = lines_of({"machine"});
  const auto some = lines_of({"machine", "--step", "1m"});
  CHECK(some.size() < all.size() / 4);
  CHECK(some.size() > all.size() / 8);
  const std::string comm = lines_of({"processes"}).front()["comm"];
  for (const json& line : lines_of({"processes", "--filter", "comm=" + comm})) CHECK(line["comm"] == comm);
  const Outcome csv = ask({"machine", "--last", "1d"});
  CHECK(lines(csv.out).size() == all.size() + 1);
  CHECK(csv.out.find("at_ms,used_kib,swap_used_kib,mem_total_kib,") == 0);
  // Gaps and ticks at repeated times are reported on standard error.
  CHECK(csv.error.find("gap") != std::string::npos);
  CHECK(csv.error.find("9 ticks are left out") != std::string::npos);
}

TEST_CASE("export: one time gives one sample per process") {
  const auto at = std::to_string(recording().now_ms());
  const Outcome one = ask({"processes", "--at", "@" + at, "--format", "jsonl"});
  CHECK(one.exit == Exit::answered);
  std::set<std::string> times;
  for (const std::string& line : lines(one.out)) times.insert(json::parse(line)["at_ms"].dump());
  CHECK(times.size() == 1);
}

TEST_CASE("export: data from before and after a clock at 1970 was set is included") {
  test::History history(60'000, 3 * test::History::kHour);
  history.begin_run();
  history.birth(1, {"sshd", "sshd"}, 5000);
  history.tick(30);
  history.pause(test::History::kStart);
  history.tick(30);
  history.maintain();
  for (const std::string tier : {"raw", "5min"}) {
    const Outcome outcome =
        ask(history, {"export", "machine", "--from", "1970-01-01", "--tier", tier, "--format", "jsonl", "--utc"});
    CAPTURE(tier, outcome.error);
    REQUIRE(outcome.exit == Exit::answered);
    std::int64_t before = 0;
    std::int64_t after = 0;
    for (const std::string& line : lines(outcome.out)) {
      ++(json::parse(line)["at_ms"] < test::History::kStart ? before : after);
    }
    CHECK(before == (tier == "raw" ? 30 : 6));
    CHECK(after == (tier == "raw" ? 30 : 6));
  }
}

TEST_CASE("export: OpenMetrics is valid") {
  const Outcome outcome = ask({"--format", "openmetrics", "--last", "1d", "--step", "30s"});
  REQUIRE(outcome.exit == Exit::answered);
  const std::vector<std::string> all = lines(outcome.out);
  REQUIRE(all.size() > 100);
  CHECK(all.back() == "# EOF");
  std::set<std::string> families;
  std::set<std::string> series;
  std::string family;
  std::string current;
  double last = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const std::string& line = all[i];
    if (line.rfind("# TYPE ", 0) == 0) {
      family = line.substr(7, line.find(' ', 7) - 7);
      CHECK(families.insert(family).second);  // families are never interleaved
      continue;
    }
    if (line[0] == '#') continue;
    const std::size_t end = line.find("} ");
    REQUIRE(end != std::string::npos);
    const std::string labels = line.substr(0, end + 1);
    if (labels != current) {
      CHECK(series.insert(labels).second);
      current = labels;
      last = 0;
    }
    const double at = std::stod(line.substr(line.rfind(' ') + 1));
    if (line.rfind(family, 0) != 0 || at <= last) ++wrong;
    last = at;
  }
  CHECK(wrong == 0);
  for (const char* name : {"memoir_machine_used_bytes", "memoir_machine_pgfault", "memoir_category_pss_bytes",
                           "memoir_process_hwm_bytes"}) {
    CHECK(families.contains(name));
  }
  CHECK(outcome.out.find("# TYPE memoir_machine_pgfault counter") != std::string::npos);
  CHECK(outcome.out.find("memoir_machine_pgfault_total{") != std::string::npos);
}

TEST_CASE("export: OpenMetrics is the same if it does not fit into memory at once") {
  const auto reader = Reader::open(recording().path());
  REQUIRE(reader.ok());
  const auto file = (*reader)->info();
  REQUIRE(file.ok());
  const Options options;
  const Context context{options, **reader, {}, {}, recording().now_ms(), {}, std::nullopt};
  const auto lines_with = [&](std::size_t max_bytes) {
    ExportQuery question;
    question.subjects = {ExportOf::machine, ExportOf::categories, ExportOf::processes};
    question.range = {file->first_tick_ms, file->last_tick_ms};
    question.max_bytes = max_bytes;
    std::string text;
    const auto left_out = export_openmetrics(context, question, [&text](std::string_view piece) {
      text += piece;
      return Status(Done{});
    });
    REQUIRE(left_out.ok());
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const auto name_of = [](const std::string& line) { return line.substr(0, line.find_last_of('}') + 1); };
  std::vector<std::string> all = lines_with(100'000'000);
  std::vector<std::string> parts = lines_with(40'000);
  // The samples of one label set are still adjacent.
  std::set<std::string> done;
  for (std::size_t at = 1; at < parts.size(); ++at) {
    const std::string name = name_of(parts[at - 1]);
    if (!name.empty() && name_of(parts[at]) != name) CHECK(done.insert(name).second);
  }
  CHECK(parts != all);
  std::ranges::sort(all);
  std::ranges::sort(parts);
  CHECK(parts == all);
}

TEST_CASE("export: hostile names stay within their label") {
  test::History history;
  history.begin_run();
  history.birth(7, {"a\"b\\c\nd", "x", "日本\"}"}, 5000);
  history.tick(2);
  const Outcome outcome = ask(history, {"export", "--format", "openmetrics"});
  CHECK(outcome.out.find(R"(comm="a\"b\\c\nd")") != std::string::npos);
  CHECK(outcome.out.find(R"(category="日本\"}")") != std::string::npos);
}

TEST_CASE("export: promtool makes blocks of OpenMetrics") {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) {
    WARN("skipped: promtool is not installed (Debian's package prometheus)");
    return;
  }
  const test::TemporaryDirectory directory;
  const std::string file = directory.path() + "/memory.om";
  const std::string log = directory.path() + "/log";
  std::ofstream(file) << ask({"--format", "openmetrics", "--last", "1d"}).out;
  const std::string command =
      "promtool tsdb create-blocks-from openmetrics " + file + " " + directory.path() + "/data >" + log + " 2>&1";
  const int status = std::system(command.c_str());
  std::ostringstream said;
  said << std::ifstream(log).rdbuf();
  CAPTURE(said.str());
  CHECK(status == 0);
}

TEST_CASE("export: a snapshot can be rollups in bytes, or metrics of categories") {
  test::History history;
  history.begin_run();
  history.birth(7, {"nginx", "nginx: worker", "web server"}, 5 * 1024);
  history.birth(8, {"nginx", "nginx: cache", "web server"}, 1024);
  history.birth(9, {"secret", "secret", "other"}, 1024);
  history.approximate(9);
  history.tick(1);
  history.estimated(8);
  history.tick(2);
  const Outcome rollups = ask(history, {"export", "--format", "smaps-rollup"});
  const json list = json::parse(rollups.out);
  REQUIRE(list.size() == 2);
  CHECK(list[0]["command"] == "nginx: worker");
  CHECK(list[0]["pid"] == 7);
  CHECK(list[0]["rollup"]["Pss"] == 5 * 1024 * 1024);
  CHECK(list[0]["shared_swap_pss"].is_null());  // the sample lacks it
  CHECK(rollups.error.find("1 process is left out") != std::string::npos);
  const Outcome metrics = ask(history, {"export", "--format", "category-metrics"});
  const json named = json::parse(metrics.out);
  CHECK(named["web_server_pss"]["summary"]["value"] == 6.0);
  CHECK(named["web_server_pss_total"]["summary"]["units"] == "MiB");
  CHECK(named["web_server_pss_swap"]["summary"]["improvement_direction"] == "down");
  CHECK_FALSE(named.contains("other_pss"));
  const json login = json::parse(ask(history, {"export", "--format", "category-metrics", "--suffix", "_login"}).out);
  CHECK(login["web_server_login_pss"]["summary"]["value"] == 6.0);
  CHECK(login.contains("web_server_login_pss_swap"));
  CHECK(login.contains("web_server_login_pss_total"));
  CHECK(login.size() == 3);
}

TEST_CASE("export: the share of shared swap is next to SwapPss, and included in the category's swap") {
  test::History history;
  history.begin_run();
  history.birth(7, {"nginx", "nginx: worker", "web"}, 1024);
  history.birth(8, {"nginx", "nginx: cache", "web"}, 1024);
  history.machine(4096, 2048);
  history.set(7, ProcessField::swap_pss, 512);
  history.set(7, ProcessField::shared_swap, 256);
  history.tick(2);
  const json list = json::parse(ask(history, {"export", "--format", "smaps-rollup"}).out);
  CHECK(list[0]["shared_swap_pss"] == 256 * 1024);
  CHECK(list[0]["rollup"]["SwapPss"] == 512 * 1024);
  CHECK(list[1]["shared_swap_pss"].is_null());
  const Outcome metrics = ask(history, {"export", "--format", "category-metrics"});
  const json named = json::parse(metrics.out);
  CHECK(named["web_pss"]["summary"]["value"] == 2.0);
  CHECK(named["web_pss_swap"]["summary"]["value"] == 0.75);
  CHECK(named["web_pss_total"]["summary"]["value"] == 2.75);
  CHECK(metrics.error.find("the share of 1 process in swapped shared memory is unknown") != std::string::npos);
}

TEST_CASE("export: a rollup without Pss or SwapPss is an error that names the process") {
  for (const ProcessField field : {ProcessField::pss, ProcessField::swap_pss}) {
    test::History history;
    history.begin_run();
    history.birth(7, {"nginx", "nginx: worker", "web"}, 1024);
    history.set(7, field, std::nullopt);
    if (field == ProcessField::pss) history.set(7, ProcessField::pss_anon, std::nullopt);
    history.tick(2);
    const Outcome refused = ask(history, {"export", "--format", "category-metrics"});
    CHECK(refused.exit == Exit::failed);
    CHECK(refused.out.empty());
    const std::string name = field == ProcessField::pss ? "Pss" : "SwapPss";
    CHECK(refused.error == "memoir: the rollup of process 7 (nginx) has no " + name + "\n");
  }
}

TEST_CASE("export: a file may have a suffix in its name, and is complete or absent") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.path() + "/machine.v1.csv";
  const Outcome written = ask({"--last", "1d", "-o", file});
  CHECK(written.exit == Exit::answered);
  CHECK(written.out.empty());
  CHECK(test::slurp(file) == ask({"--last", "1d"}).out);
  const Outcome again = ask({"--last", "1d", "-o", file});
  CHECK(again.exit == Exit::failed);
  CHECK(again.error.find("--force") != std::string::npos);
  CHECK(ask({"--format", "category-metrics", "-o", file, "--force"}).exit == Exit::answered);
  CHECK(test::slurp(file) == ask({"--format", "category-metrics"}).out);

  CHECK(ask({"--last", "1d", "-o", file, "--suffix", "_login"}).exit == Exit::answered);
  CHECK(test::slurp(directory.path() + "/machine.v1_login.csv") == ask({"--last", "1d"}).out);
  CHECK(ask({"-o", directory.path() + "/plain", "--suffix=.1"}).exit == Exit::answered);
  CHECK(test::slurp(directory.path() + "/plain.1").starts_with("at_ms,"));

  const std::string empty = directory.path() + "/empty.csv";
  CHECK(ask({"--day", "2020-01-01", "-o", empty}).exit == Exit::empty);
  CHECK(ask({"proceses", "-o", empty}).exit == Exit::usage);
  CHECK_FALSE(std::ifstream(empty).is_open());
  CHECK_FALSE(std::ifstream(empty + ".partial").is_open());
  CHECK(ask({"-o", directory.path() + "/none/x.csv"}).exit == Exit::failed);
  CHECK(ask({"--suffix", "x"}).exit == Exit::usage);
  CHECK(ask({"-o", empty, "--suffix", "/x"}).exit == Exit::usage);
}

TEST_CASE("export: if nothing was recorded, the exit status is 3 with a header; conflicting options are errors") {
  const Outcome nothing = ask({"machine", "--day", "2020-01-01"});
  CHECK(nothing.exit == Exit::empty);
  CHECK(lines(nothing.out).size() == 1);
  CHECK(nothing.error.find("nothing was recorded") != std::string::npos);
  const Outcome metrics = ask({"--format", "openmetrics", "--day", "2020-01-01"});
  CHECK(metrics.exit == Exit::empty);
  CHECK(metrics.out == "# EOF\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"all"},
                                                {"proceses"},
                                                {"--filter", "comm=x"},
                                                {"--step", "x"},
                                                {"--format", "smaps-rollup", "--last", "1h"},
                                                {"processes", "--format", "category-metrics"}}) {
    CAPTURE(words);
    const Outcome refused = ask(words);
    CHECK(refused.exit == Exit::usage);
    CHECK(refused.out.empty());
  }
}

TEST_CASE("Rows are written without an open transaction, so a slow reader does not make the -wal grow") {
  test::Simulation simulation({.processes = 200, .changing = 0.5});
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/memoir.db";
  const auto writer = Writer::open(path, Durability::normal);
  REQUIRE(writer.ok());
  REQUIRE((*writer)->begin_run({simulation.boot(), 1, "test", 10'000, simulation.now()}).ok());
  for (int i = 0; i < 80; ++i) REQUIRE((*writer)->write(simulation.next()).ok());
  SQLite::Database other(path, SQLite::OPEN_READWRITE);
  std::size_t bytes = 0;
  int calls = 0;
  int blocked = 0;
  for (const char* format : {"csv", "jsonl", "openmetrics"}) {
    const Outcome outcome = run_query({"export", "processes", "--last", "1h", "--format", format, "--db", path},
                                      test::ManualClock(simulation.now()), [&](std::string_view text) -> Status {
                                        bytes += text.size();
                                        ++calls;
                                        blocked += other.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt();
                                        return Done{};
                                      });
    CAPTURE(outcome.error);
    CHECK(outcome.exit == Exit::answered);
  }
  CHECK(bytes > 8U << 20U);
  CHECK(calls > 6);
  CHECK(blocked == 0);
}

}  // namespace export_test
