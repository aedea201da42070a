// Three recorded machines, with the servers that their owners may already run: Debian's node_exporter, Prometheus and
// VictoriaMetrics, on the loopback interface, with the commands of docs/fleet.

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "http.h"
#include "query/application.h"
#include "query/history.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/manual_clock.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr const char* kPrometheus = "/usr/bin/prometheus";
constexpr const char* kPromtool = "/usr/bin/promtool";
constexpr const char* kExporter = "/usr/bin/prometheus-node-exporter";
constexpr const char* kVictoria = "/usr/bin/victoria-metrics";
constexpr const char* kRules = MEMOIR_SOURCE "/docs/fleet/memoir.rules.yml";
constexpr std::int64_t kMib = 1024;
constexpr int kMinutes = 300;

bool is_there(std::initializer_list<const char*> programs) {
  for (const char* program : programs) {
    if (access(program, X_OK) == 0) continue;
    WARN("skipped: " << program
                     << " is not installed (Debian: prometheus, prometheus-node-exporter, victoria-metrics)");
    return false;
  }
  return true;
}

// A recorded machine, up to the present. On the second machine a program leaks towards the limit of its cgroup.
class Machine {
 public:
  Machine(const std::string& host, int size, bool leaks)
      : history_(History::kMinute, now() - kMinutes * History::kMinute, host), port_(free_port()) {
    history_.begin_run();
    history_.birth(1, {"postgres", "/usr/bin/postgres", "database", "postgres", "/system.slice/db.service"},
                   size * kMib);
    history_.birth(2, {"leaky", "/usr/bin/leaky --secret", "web", "www-data", "/system.slice/leaky.service"},
                   100 * kMib);
    history_.machine((1024 + size) * kMib);
    for (int minute = 0; minute < kMinutes; ++minute) {
      const std::int64_t held = (100 + (leaks ? minute : 0)) * kMib;
      history_.hold(2, held);
      history_.cgroup({"/system.slice/leaky.service", held, 0, 0, 1024 * kMib, {}, 0});
      history_.tick();
    }
  }

  std::string page() const { return folder_.path() + "/memoir.prom"; }
  const std::string& folder() const { return folder_.path(); }
  std::uint16_t port() const { return port_; }
  std::string instance() const { return fmt::format("127.0.0.1:{}", port_); }
  std::int64_t last_tick_ms() const { return history_.now_ms() - History::kMinute; }

  std::string export_words(std::vector<std::string> words) const {
    words.insert(words.begin(), {"export", "--format", "openmetrics", "--hour", "5m", "--db", history_.path()});
    const memoir::query::Outcome outcome = memoir::query::run_query(words, ManualClock({history_.now_ms(), 0}));
    INFO(outcome.error);
    REQUIRE(outcome.exit == memoir::query::Exit::answered);
    return outcome.out;
  }
  void write_page() const { export_words({"--textfile", page()}); }
  // The past series, with the labels of a scrape.
  std::string past() const {
    return export_words(
        {"fleet", "--last", "1h", "--step", "1m", "--label", "instance=" + instance(), "--label", "job=node"});
  }

 private:
  static std::int64_t now() { return memoir::SystemClock().now().wall_ms; }

  History history_;
  TemporaryDirectory folder_;
  std::uint16_t port_;
};

struct Fleet {
  std::vector<std::unique_ptr<Machine>> machines;
  TemporaryDirectory folder;

  Fleet() {
    machines.push_back(std::make_unique<Machine>("alpha", 300, false));
    machines.push_back(std::make_unique<Machine>("beta", 500, true));
    machines.push_back(std::make_unique<Machine>("gamma", 700, false));
  }
};

double sum_of(const std::string& text, const std::string& name) {
  double sum = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + "{")) sum += std::stod(line.substr(line.rfind("} ") + 2));
  }
  return sum;
}

// The sum of the last value of each series up to `at_ms`, from lines with times.
double sum_at(const std::string& text, const std::string& name, std::int64_t at_ms) {
  std::map<std::string, double> last;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name + "{")) continue;
    const std::size_t labels = line.rfind("} ");
    const std::size_t time = line.rfind(' ');
    if (std::stod(line.substr(time + 1)) * 1000 > static_cast<double>(at_ms)) continue;
    last[line.substr(0, labels)] = std::stod(line.substr(labels + 2));
  }
  double sum = 0;
  for (const auto& [series, value] : last) sum += value;
  return sum;
}

json get(std::uint16_t port, const std::string& target) {
  const auto answered = ask_http(port, target);
  if (!answered || answered->status != 200) return {};
  return json::parse(answered->body, nullptr, false);
}

// The value of an expression; nullopt as long as it has none.
std::optional<double> value_of(std::uint16_t port, const std::string& expression,
                               std::optional<std::int64_t> at_ms = {}) {
  std::string target = "/api/v1/query?query=" + url_encoded(expression);
  if (at_ms) target += fmt::format("&time={}.{:03}", *at_ms / 1000, *at_ms % 1000);
  const json answer = get(port, target);
  if (!answer.is_object() || answer["data"]["result"].size() != 1) return std::nullopt;
  return std::stod(answer["data"]["result"][0]["value"][1].get<std::string>());
}

std::vector<std::unique_ptr<Child>> exporters_of(const Fleet& fleet) {
  std::vector<std::unique_ptr<Child>> exporters;
  for (const auto& machine : fleet.machines) {
    exporters.push_back(std::make_unique<Child>(Program{
        kExporter,
        {"--collector.disable-defaults", "--collector.textfile", "--collector.textfile.directory=" + machine->folder(),
         "--web.listen-address=" + machine->instance()}}));
  }
  return exporters;
}

Program prometheus_of(const Fleet& fleet, std::uint16_t port) {
  const std::string configuration = fleet.folder.path() + "/prometheus.yml";
  std::string targets;
  for (const auto& machine : fleet.machines)
    targets += fmt::format("{}'{}'", targets.empty() ? "" : ", ", machine->instance());
  std::ofstream(configuration) << fmt::format(
      "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n"
      "rule_files: ['{}']\n"
      "scrape_configs:\n"
      "  - job_name: node\n"
      "    static_configs: [{{targets: [{}]}}]\n",
      kRules, targets);
  return {kPrometheus,
          {"--config.file=" + configuration, "--storage.tsdb.path=" + fleet.folder.path() + "/data",
           fmt::format("--web.listen-address=127.0.0.1:{}", port), "--log.level=warn"}};
}

}  // namespace

TEST_CASE("a leak on one of three machines fires its alert, and sums over all equal those of the files") {
  if (!is_there({kPrometheus, kPromtool, kExporter})) return;
  const Fleet fleet;
  double held = 0;
  double past_held = 0;
  const std::int64_t before_ms = fleet.machines.front()->last_tick_ms() - 20 * History::kMinute + 5000;
  for (const auto& machine : fleet.machines) {
    machine->write_page();
    held += sum_of(slurp(machine->page()), "memoir_category_pss_bytes");
    // Data from before the server's first scrape is imported as well.
    const std::string file = fleet.folder.path() + "/past.om";
    const std::string past = machine->past();
    std::ofstream(file) << past;
    const Outcome imported =
        run({kPromtool, {"tsdb", "create-blocks-from", "openmetrics", file, fleet.folder.path() + "/data"}});
    INFO(imported.out << imported.err);
    REQUIRE(imported.status == 0);
    past_held += sum_at(past, "memoir_category_pss_bytes", before_ms);
  }
  const auto exporters = exporters_of(fleet);
  const std::uint16_t port = free_port();
  const Child prometheus(prometheus_of(fleet, port));
  wait_until("three machines that record", [&] { return value_of(port, "sum(memoir_recorder_up)") == 3; });
  CHECK(value_of(port, "sum(memoir_category_pss_bytes)").value_or(-1) == held);
  wait_until("exporters without an error", [&] { return value_of(port, "sum(node_textfile_scrape_error)") == 0; });
  wait_until("the recording rule", [&] { return value_of(port, "sum(memoir:category_pss_bytes:sum)") == held; });

  json alerts;
  wait_until("the alert", [&] {
    alerts = get(port, "/api/v1/alerts")["data"]["alerts"];
    return std::ranges::any_of(
        alerts, [](const json& alert) { return alert["labels"]["alertname"] == "MemoirLeakReachesLimit"; });
  });
  INFO(alerts.dump(1));
  int fired = 0;
  for (const json& alert : alerts) {
    if (alert["labels"]["alertname"] != "MemoirLeakReachesLimit") continue;
    ++fired;
    CHECK(alert["state"] == "firing");
    CHECK(alert["labels"]["host"] == "beta");
    CHECK(alert["labels"]["instance"] == fleet.machines[1]->instance());
    CHECK(alert["labels"]["program"] == "leaky");
    CHECK(alert["annotations"]["summary"] == "leaky in leaky.service on beta leaks");
    CHECK(alert["labels"]["limit"] == "memory.max of /system.slice/leaky.service");
  }
  CHECK(fired == 1);

  // The imported series are the same as the scraped ones.
  CHECK(past_held > 0);
  CHECK(value_of(port, "sum(memoir_category_pss_bytes)", before_ms) == past_held);
  CHECK(value_of(port, "count(count by (instance, job, host) (last_over_time(memoir_recorder_up[2h])))") == 3);
}

TEST_CASE("VictoriaMetrics imports the past of three machines and sums it") {
  if (!is_there({kVictoria})) return;
  const Fleet fleet;
  const std::uint16_t port = free_port();
  const Child victoria({kVictoria,
                        {"-storageDataPath=" + fleet.folder.path() + "/data", "-retentionPeriod=100y",
                         fmt::format("-httpListenAddr=127.0.0.1:{}", port), "-loggerLevel=WARN"}});
  wait_until("VictoriaMetrics", [&] { return ask_http(port, "/health").has_value(); });
  double held = 0;
  const std::int64_t from_ms = fleet.machines.front()->last_tick_ms() - 30 * History::kMinute + 5000;
  for (const auto& machine : fleet.machines) {
    const std::string past = machine->past();
    const auto imported = ask_http(port, "/api/v1/import/prometheus", past);
    REQUIRE(imported.has_value());
    INFO(imported->body);
    CHECK(imported->status == 204);
    held += sum_at(past, "memoir_category_pss_bytes", from_ms);
  }
  CHECK(held > 0);
  wait_until("what was imported", [&] { return value_of(port, "sum(memoir_category_pss_bytes)", from_ms) == held; });
  CHECK(value_of(port, "count(memoir_recorder_up)", from_ms) == 3);
  CHECK(value_of(port, "count(memoir_leak_exhaustion_seconds{host=\"beta\"})", from_ms) == 1);
}

TEST_CASE("the rules are valid, and each has passing cases") {
  if (!is_there({kPromtool})) return;
  const Outcome checked = run({kPromtool, {"check", "rules", kRules}});
  INFO(checked.out << checked.err);
  CHECK(checked.status == 0);
  const Outcome tested = run({kPromtool, {"test", "rules", MEMOIR_SOURCE "/docs/fleet/memoir.rules.test.yml"}});
  INFO(tested.out << tested.err);
  CHECK(tested.status == 0);
}

TEST_CASE("rules and dashboards query existing series") {
  const std::string known = slurp(MEMOIR_SOURCE "/query/commands/export/fleet.cpp");
  for (const char* name : {"memoir.rules.yml", "grafana-fleet.json", "grafana-machine.json"}) {
    const std::string text = slurp(std::string(MEMOIR_SOURCE "/docs/fleet/") + name);
    if (std::string(name).ends_with(".json")) REQUIRE(json::parse(text).contains("panels"));
    std::size_t asked = 0;
    for (std::size_t at = text.find("memoir_"); at != std::string::npos; at = text.find("memoir_", at + 1)) {
      const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
      std::string metric = text.substr(at, end - at);
      if (metric.starts_with("memoir_machine_") || metric.starts_with("memoir_category_")) continue;
      if (metric.ends_with("_total")) metric.resize(metric.size() - std::string("_total").size());
      CAPTURE(name, metric);
      CHECK(known.find('"' + metric + '"') != std::string::npos);
      ++asked;
    }
    CHECK(asked > 5);
  }
}
