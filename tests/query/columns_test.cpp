// --columns in every command with rows, and other options for the form of an answer.

#include <algorithm>
#include <sstream>

#include "query/ask.h"
#include "query/commands.h"
#include "support/catch.h"

namespace columns_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;
using memoir::test::History;
using Words = std::vector<std::string>;

namespace {

void record(History& history) {
  history.begin_run();
  history.birth(812, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/nginx.service"}, 120'000);
  history.birth(900, {"postgres", "postgres: main", "database", "postgres", "/system.slice/postgresql.service"},
                500'000);
  history.parent(812, 900);
  history.cgroup({"/system.slice/nginx.service", 150'000, 20'000, 0, 400'000, {}, {}});
  history.tick(3);
}

std::string text(Words words) {
  return text_of(test::recorded<record>(), std::move(words));
}

Outcome refused(Words words) {
  return test::ask_recorded<record>(std::move(words));
}

std::string first_line(const std::string& of) {
  return of.substr(0, of.find('\n'));
}

}  // namespace

TEST_CASE("--columns shows only these columns, in this order, in every format") {
  CHECK(has(text({"top", "--columns", "pid,pss,unit"}), "PID PSS MiB ▼ UNIT\n900     488.3 postgresql.service"));
  const std::string csv = text({"top", "--columns", "Command, PSS_KIB,pid,pid", "--csv"});
  CHECK(has(csv, "command,pss_kib,pid\n"));
  CHECK(has(csv, "postgres: main,500000,900\n"));
  const auto json = json_of(test::recorded<record>(), {"top", "--columns", "identity,rss"});
  CHECK(json["rows"][0] == nlohmann::json({{"identity", "postgres: main"}, {"rss_kib", 500'000}}));
  CHECK(has(text({"top", "--columns", "pid,user", "--format", "markdown"}), "| PID | USER |\n"));
  CHECK(has(text({"tree", "--columns", "command,pid,rss"}), "PID RSS MiB COMMAND"));
  CHECK(has(text({"memory", "--columns", "how,line"}), "HOW"));
}

TEST_CASE("an unknown column is an error whose message lists the columns") {
  for (const char* format : {"table", "csv"}) {
    const Outcome outcome = refused({"top", "--columns", "pid,pssk", "--format", format});
    CHECK(outcome.exit == Exit::usage);
    CHECK(has(outcome.error, "--columns: 'pssk' is not one of "));
    CHECK(has(outcome.error, "pss"));
    CHECK(has(outcome.error, "command"));
  }
  CHECK(refused({"export", "--columns", "pid"}).exit == Exit::usage);
}

TEST_CASE("every command with rows has --columns") {
  int checked = 0;
  for (const Command& command : commands()) {
    const auto options = options_of(command);
    if (std::ranges::find(options, Option::columns) == options.end()) continue;
    CAPTURE(command.name);
    const Outcome whole = refused({command.name, "--json"});
    if (whole.exit != Exit::answered) continue;
    const auto json = nlohmann::json::parse(whole.out);
    if (!json.contains("rows") || json["rows"].empty()) continue;
    const std::string name = json["rows"][0].items().begin().key();
    if (name == "children") continue;
    const Outcome chosen = refused({command.name, "--csv", "--columns", name});
    CHECK(chosen.exit == Exit::answered);
    const std::string header = first_line(chosen.out);
    CHECK((header == name || header == "at_ms," + name));
    ++checked;
  }
  CHECK(checked > 8);
}

TEST_CASE("every command with a report can write HTML and Markdown") {
  for (const Words& words : {Words{"status"}, Words{"trend"}, Words{"trend", "--by", "pss", "web", "database"},
                             Words{"top"}, Words{"cgroups"}, Words{"memory"}}) {
    CAPTURE(words);
    Words page = words;
    page.insert(page.end(), {"--format", "html"});
    Words markdown = words;
    markdown.insert(markdown.end(), {"--format", "markdown"});
    CHECK(has(text(page), "</html>"));
    CHECK(text(markdown).starts_with("# "));
  }
  CHECK(has(text({"status", "--format", "html"}), "<pre>"));
  CHECK(has(text({"status", "--format", "markdown"}), "\n    "));
  CHECK(has(text({"trend", "--format", "html"}), "<svg"));
}

}  // namespace columns_test
