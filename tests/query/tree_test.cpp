// memoir tree: nesting, sums, and omitted processes.

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "query/on_screen.h"
#include "query/render/layout.h"
#include "query/render/terminal.h"
#include "query/zone_guard.h"
#include "support/catch.h"

namespace tree_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int32_t kDeep = 150;

// init with a web server of two workers and a build of several levels; an orphan; a process that is older than its
// parent, as after pid reuse; and a process that is its own parent.
void record(History& history) {
  history.begin_run();
  history.birth(1, {"init", "/sbin/init"}, 10 * kMib);
  history.parent(1, 0);
  history.birth(100, {"nginx", "nginx: master process", "web", "root", "/system.slice/nginx.service"}, 6 * kMib);
  history.birth(101, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/nginx.service"}, 120 * kMib);
  history.birth(102, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/nginx.service"}, 90 * kMib);
  history.birth(200, {"make", "make -j2", "build", "me", "/user.slice"}, 4 * kMib);
  history.birth(201, {"sh", "sh -c 'cc a.c'", "build", "me", "/user.slice"}, 1 * kMib);
  history.birth(202, {"cc1", "/usr/lib/cc1 a.c", "build", "me", "/user.slice"}, 400 * kMib);
  history.birth(203, {"sh", "sh", "build", "me", "/user.slice"}, 0);
  history.birth(300, {"orphan", "orphan \x1b[31m\u202e name, \"quoted\"", "other", "root", "/"}, 7 * kMib);
  history.birth(401, {"one", "one", "other", "root", "/"}, 3 * kMib);
  history.birth(402, {"young", "young", "other", "root", "/"}, 2 * kMib);
  history.birth(403, {"self", "self", "other", "root", "/"}, 1 * kMib);
  const std::pair<std::int32_t, std::int32_t> parents[]{{101, 100}, {102, 100}, {201, 200}, {202, 201},
                                                        {203, 201}, {300, 299}, {401, 402}, {403, 403}};
  for (const auto& [pid, parent] : parents) history.parent(pid, parent);
  history.approximate(102);
  history.zombie(203);
  history.tick(2);
}

// Each process is the child of the previous one.
void record_chain(History& history) {
  history.begin_run();
  for (std::int32_t pid = 1; pid <= kDeep; ++pid) {
    history.birth(pid, {"link", "L" + std::to_string(pid)}, kMib);
    history.parent(pid, pid - 1);
  }
  history.tick(1);
}

std::vector<std::string> on_screen(const History& history, std::vector<std::string> arguments, Screen screen) {
  const test::ZoneGuard zone("UTC");
  arguments.insert(arguments.begin(), "tree");
  std::istringstream text(test::answer_on_screen(history.path(), history.now_ms(), arguments, screen).value());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Returns the tree in the form "1(100(101 102) 200)".
std::string shape(const json& rows) {
  std::string out;
  for (const json& row : rows) {
    if (!out.empty()) out += ' ';
    out += std::to_string(row["pid"].get<int>());
    if (!row["children"].empty()) out += "(" + shape(row["children"]) + ")";
  }
  return out;
}

// Checks that every row's sum is its own memory plus the sums of its children. Returns the sum of all rows.
std::int64_t check_sums(const json& rows, const std::string& metric) {
  std::int64_t all = 0;
  for (const json& row : rows) {
    const json& own = row[metric];
    const std::int64_t below = check_sums(row["children"], metric);
    const json& sum = row["subtree_" + metric];
    const std::int64_t expected = (own.is_null() ? 0 : own.get<std::int64_t>()) + below;
    CHECK((sum.is_null() ? 0 : sum.get<std::int64_t>()) == expected);
    all += expected;
  }
  return all;
}

}  // namespace

TEST_CASE("Golden trees") {
  test::check_formats("tree", recorded<record>(), {"tree"});
  test::check_formats("tree-filter", recorded<record>(), {"tree", "--filter", "user=www-data", "--by", "rss"});
}

TEST_CASE("tree: JSON nests children, the largest first, and every sum adds up") {
  const json answer = json_of(recorded<record>(), {"tree"});
  CHECK(shape(answer["rows"]) == "1(200(201(202 203)) 100(101 102) 402) 300 401 403");
  for (const char* metric : {"pss_kib", "uss_kib", "rss_kib", "swap_kib"}) {
    CAPTURE(metric);
    CHECK(check_sums(answer["rows"], metric) == answer["totals"][metric]);
  }
  CHECK(answer["sorted_by"] == "subtree_pss_kib");
  CHECK(answer["totals"]["processes"] == 12);
  CHECK(answer["totals"]["rows"] == 12);
  CHECK(answer["rows"][0]["subtree_processes"] == 9);
  CHECK(answer["rows"][0]["subtree_pss_kib"] == 633 * kMib);
  CHECK(answer["rows"][0]["subtree_exact_percent"].get<double>() == Approx(100.0 * (633 - 90) / 633));
}

TEST_CASE("tree: a filter shows the matches and their ancestors; a subject also its descendants") {
  const History& history = recorded<record>();
  const json filtered = json_of(history, {"tree", "--filter", "user=www-data"});
  CHECK(shape(filtered["rows"]) == "1(100(101 102))");
  CHECK(filtered["totals"]["processes"] == 2);
  CHECK(filtered["totals"]["pss_kib"] == 210 * kMib);
  CHECK(filtered["rows"][0]["asked_for"] == false);
  CHECK(filtered["rows"][0]["subtree_pss_kib"] == 633 * kMib);
  CHECK(shape(json_of(history, {"tree", "201"})["rows"]) == "1(200(201(202 203)))");
  CHECK(shape(json_of(history, {"tree", "nginx"})["rows"]) == "1(100(101 102))");
  CHECK(shape(json_of(history, {"tree", "200", "--filter", "pss>100M"})["rows"]) == "1(200(201(202)))");
  CHECK(json_of(history, {"tree", "machine"})["rows"] == json_of(history, {"tree"})["rows"]);
  const Outcome unknown = ask(history, {"tree", "999"});
  CHECK(unknown.exit == Exit::empty);
  CHECK(unknown.error.find("999") != std::string::npos);
  CHECK(ask(history, {"tree", "--filter", "user=nobody"}).exit == Exit::empty);
}

TEST_CASE("tree: a limit keeps the largest subtrees with their ancestors, and counts the omitted ones") {
  for (std::size_t limit = 1; limit <= 12; ++limit) {
    const json answer = json_of(recorded<record>(), {"tree", "--limit", std::to_string(limit), "--by", "rss"});
    CAPTURE(limit);
    std::int64_t shown_kib = 0;
    std::size_t shown = 0;
    const std::function<void(const json&)> count = [&](const json& rows) {
      for (const json& row : rows) {
        ++shown;
        shown_kib += row["rss_kib"].is_null() ? 0 : row["rss_kib"].get<std::int64_t>();
        for (const json& child : row["children"]) CHECK(child["parent_pid"] == row["pid"]);
        count(row["children"]);
      }
    };
    count(answer["rows"]);
    CHECK(shown == limit);
    CHECK(answer["totals"]["cut_rows"] == 12 - limit);
    CHECK(shown_kib + answer["totals"]["cut_kib"].get<std::int64_t>() == answer["totals"]["rss_kib"]);
  }
  CHECK(shape(json_of(recorded<record>(), {"tree", "--limit", "4"})["rows"]) == "1(200(201(202)))");
}

TEST_CASE("tree: no line is wider and no table is longer than the terminal, however deep the tree is") {
  const Screen screen = GENERATE(Screen{80, 24}, Screen{60, 24}, Screen{40, 24}, Screen{132, 50}, Screen{250, 200});
  for (const History* history : {&recorded<record>(), &recorded<record_chain>()}) {
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--ascii"}, {"--limit", "0"}}) {
      const auto lines = on_screen(*history, more, screen);
      CAPTURE(screen.columns, more, lines);
      for (const std::string& line : lines) CHECK(display_width(line) <= screen.columns);
      if (more.empty()) CHECK(lines.size() < screen.lines);
    }
  }
}

TEST_CASE("tree: levels too deep to draw or nest are next to their parent, with a note") {
  const History& history = recorded<record_chain>();
  const auto lines = on_screen(history, {"--limit", "0"}, Screen{80, 24});
  const auto deep =
      std::ranges::find_if(lines, [](const std::string& line) { return line.find("L140") != std::string::npos; });
  REQUIRE(deep != lines.end());
  CHECK(deep->find("(+") != std::string::npos);

  const json answer = json_of(history, {"tree"});
  std::size_t levels = 0;
  const json* rows = &answer["rows"];
  for (; rows->size() == 1; rows = &(*rows)[0]["children"]) ++levels;
  CHECK(levels == 100);
  CHECK(rows->size() == 50);
  CHECK(rows->back()["depth"] == 149);
  CHECK(rows->back()["parent_pid"] == 149);
  REQUIRE(answer["warnings"].size() == 1);
  CHECK(answer["warnings"][0].get<std::string>().find("49 processes are more than 100 levels deep") == 0);
}

TEST_CASE("tree: ASCII is used on request") {
  const std::string ascii = ask(recorded<record>(), {"tree", "--ascii", "--limit", "0"}).out;
  CHECK(ascii.find("|-") != std::string::npos);
  CHECK(ascii.find("├") == std::string::npos);
  CHECK(ask(recorded<record>(), {"tree"}).out.find("├─") != std::string::npos);
}

TEST_CASE("tree: nothing recorded is exit status 3, in every format, and CSV has its names") {
  const History& history = recorded<record>();
  const std::string all = ask(history, {"tree", "--format", "csv"}).out;
  for (const char* format : {"table", "json", "csv"}) {
    const Outcome outcome = ask(history, {"tree", "--at", "2026-11-18 12:00", "--format", format});
    CHECK(outcome.exit == Exit::empty);
    if (std::string(format) == "csv") CHECK(outcome.out == all.substr(0, all.find('\n') + 1));
  }
  CHECK(ask(history, {"tree", "--by", "hwm"}).exit == Exit::usage);
}

}  // namespace tree_test
