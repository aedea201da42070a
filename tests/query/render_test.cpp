#include "query/render/render.h"

#include <clocale>

#include <nlohmann/json.hpp>

#include "query/render/layout.h"
#include "query/render/terminal.h"
#include "query/report/format.h"
#include "query/zone_guard.h"
#include "support/catch.h"
#include "support/csv_records.h"

namespace render_test {

using namespace memoir;
using namespace memoir::query;

namespace {

const std::vector<std::string> kHostile{
    "plain",
    "new\nline\r\ttab",
    "escape \x1b[31mred\x1b[0m",
    "right-to-left \u202e\u2066mark\u200f",
    "comma, \"quote\"; semicolon",
    "日本語のプロセス名前です",
    "emoji 🚀🚀🚀 and e\u0301",
    "invalid \xff\xfe\xc3 utf-8",
    "\u009b31m C1",
    "",
    "private \ue000 unassigned \U0003ffff noncharacter \uffff tag \U000e0001",
    "=HYPERLINK(1)",
    std::string("nul\0inside", 10),
};

struct Row {
  std::string text;
  std::optional<std::int64_t> size;
};

Report hostile_report() {
  std::vector<Row> rows;
  for (const std::string& text : kHostile) rows.push_back({text, 2048});
  rows.push_back({"unknown", std::nullopt});
  Report report;
  report.at_ms = 1'795'166'412'000;
  report.rows = make_table<Row>({{{"rss_kib", "RSS", Kind::size}, [](const Row& row) { return row.size; }},
                                 {{"command", "COMMAND"}, [](const Row& row) { return Value(row.text); }}},
                                rows);
  report.warnings = {"a warning\x1b[2J"};
  return report;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// An RFC 4180 reader that is independent of the renderer.
}  // namespace

TEST_CASE("A table shows hostile text as one harmless line per row") {
  use_utf8();
  const auto width = GENERATE(std::optional<std::size_t>(), std::optional<std::size_t>(36));
  const std::string text = render_table({"top", "f.db", "host\nile"}, hostile_report(), {Zone::utc, {}, false, width});
  const auto lines = lines_of(text);
  CHECK(lines.size() == 1 + 1 + kHostile.size() + 1 + 1);  // heading, headers, rows, warning
  for (const std::string& line : lines) {
    CAPTURE(line);
    for (const char c : line) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    CHECK(line.find("\u202e") == std::string::npos);
    CHECK(line.find("\u009b") == std::string::npos);
  }
  if (!width) CHECK(text.find("日本語のプロセス名前です") != std::string::npos);
}

TEST_CASE("A table fits the terminal in columns, not in bytes") {
  use_utf8();
  const std::string text = render_table({"top", "f.db", ""}, hostile_report(), {Zone::utc, {}, false, 24});
  const auto lines = lines_of(text);
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    CAPTURE(lines[i]);
    CHECK(display_width(lines[i]) <= 24);
  }
  CHECK(text.find("…") != std::string::npos);
}

TEST_CASE("Colour is used only on request") {
  use_utf8();
  const Report report = hostile_report();
  CHECK(render_table({"top", "", ""}, report, {Zone::utc, {}, true, 80}).find("\x1b[") != std::string::npos);
  CHECK(render_table({"top", "", ""}, report, {Zone::utc, {}, false, 80}).find("\x1b[") == std::string::npos);
}

TEST_CASE("Colour shows severity: a problem is red, a warning yellow") {
  use_utf8();
  const std::vector<std::pair<std::string, Tone>> said{
      {"well", Tone::plain}, {"look", Tone::marked}, {"late", Tone::warning}, {"dead", Tone::problem}};
  Report report;
  report.title = "not recording";
  report.tone = Tone::problem;
  report.facts = {{"kills", "OOM kills", Kind::count, std::int64_t{3}, Tone::problem}};
  report.rows = make_table<std::pair<std::string, Tone>>(
      {{{"kind", "KIND"}, [](const auto& row) { return Value(row.first); }},
       {{"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true}, [](const auto&) { return Value("one two"); }}},
      said, [](const auto& row) { return row.second; });
  const auto lines = lines_of(render_table({}, report, {Zone::utc, {}, true, 9}));
  const auto line_of = [&lines](const std::string& text) {
    return *std::find_if(lines.begin(), lines.end(),
                         [&text](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(lines[0] == "\x1b[31mnot");
  CHECK(line_of("OOM").starts_with("\x1b[31m"));
  CHECK_FALSE(line_of("well").starts_with("\x1b"));
  CHECK(line_of("look").starts_with("\x1b[1m"));
  CHECK(line_of("late").starts_with("\x1b[33m"));
  CHECK(line_of("dead").starts_with("\x1b[31m"));
  // Continuation lines keep their colour.
  CHECK(lines.back().starts_with("\x1b[31m"));
  for (const std::string& line : lines_of(render_table({}, report, {Zone::utc, {}, false, 80}))) {
    CHECK(line.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("A page names its host first, clips long commands with the full text in the title, and marks rows") {
  use_utf8();
  const std::string command = "run \"" + std::string(300, 'x') + "\" <end>";
  Report report;
  report.title = "memory by process";
  report.at_ms = 1'795'166'412'000;
  report.facts = {{"kills", "OOM kills", Kind::count, std::int64_t{3}, Tone::problem}};
  report.rows = make_table<std::string>(
      {{{"command", "COMMAND"}, [](const std::string& row) { return Value(row); }}}, {command, "short"},
      [](const std::string& row) { return row == "short" ? Tone::marked : Tone::plain; });
  const std::string page = render_html({"top", "", "web1"}, report, {Zone::utc, {}, false, std::nullopt});
  const auto has = [&page](const std::string& text) { return page.find(text) != std::string::npos; };
  CHECK(has("<title>web1: memory by process, 2026-11-20 09:20:12 UTC</title>"));
  CHECK(has("<h1>web1: memory by process</h1>"));
  CHECK(has("title=\"run &quot;" + std::string(300, 'x') + "&quot; &lt;end&gt;\""));
  CHECK(has("<bdi>run &quot;xxx"));
  CHECK(has("xxx…</bdi>"));
  CHECK(has("<tr class=\"marked\"><td><bdi>short"));
  CHECK(has("<div class=\"problem\"><dt>OOM kills"));
}

TEST_CASE("A single-byte locale still gives a table") {
  REQUIRE(std::setlocale(LC_CTYPE, "C") != nullptr);
  const std::string text = render_table({"top", "", ""}, hostile_report(), {Zone::utc, {}, false, 40});
  use_utf8();
  CHECK(lines_of(text).size() == 1 + 1 + kHostile.size() + 1 + 1);
}

TEST_CASE("JSON is valid and ASCII, and valid UTF-8 is read back") {
  const std::string text = render_json({"top", "f\xff.db", "host"}, hostile_report());
  for (const char c : text)
    REQUIRE((c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f)));
  const auto json = nlohmann::json::parse(text);
  CHECK(json["schema_version"] == 1);
  CHECK(json["db"] == "f\\xff.db");
  CHECK(json["at_ms"] == 1'795'166'412'000);
  CHECK(json["coverage"].is_null());
  CHECK(json["rows"][1]["command"] == kHostile[1]);
  CHECK(json["rows"][5]["command"] == kHostile[5]);
  CHECK(json["rows"][7]["command"] == "invalid \\xff\\xfe\\xc3 utf-8");
  CHECK(json["rows"][12]["command"] == kHostile[12]);
  CHECK(json["rows"][13]["rss_kib"].is_null());
  CHECK(json["rows"][0]["rss_kib"] == 2048);
}

TEST_CASE("CSV is read back unchanged, and unknown values are empty") {
  const auto records = test::csv_records(render_csv(hostile_report()));
  REQUIRE(records);
  const test::CsvRecords& rows = *records;
  REQUIRE(rows.size() == kHostile.size() + 2);
  CHECK(rows[0] == std::vector<std::string>{"at_ms", "rss_kib", "command"});
  for (std::size_t i = 0; i < kHostile.size(); ++i) {
    CAPTURE(i);
    REQUIRE(rows[i + 1].size() == 3);
    if (i != 7) CHECK(rows[i + 1][2] == kHostile[i]);
  }
  CHECK(rows.back() == std::vector<std::string>{"1795166412000", "", "unknown"});
}

TEST_CASE("CSV quotes every character that ends a line or a cell") {
  for (const char* text : {"a\rb", "a\nb", "a,b", "a\"b", "\r"}) {
    Report report;
    report.rows.columns = {{"name", "NAME"}};
    report.rows.rows = {{std::string(text)}};
    const std::string csv = render_csv(report);
    CAPTURE(csv);
    CHECK(csv.starts_with("name\n\""));
    CHECK(csv.ends_with("\"\n"));
  }
}

TEST_CASE("Columns are dropped by usefulness, the last is truncated, and required ones stay") {
  use_utf8();
  const auto table = [] {
    return TextTable{{{"PID", true, 0}, {"USER", false, 9}, {"PSS", true, 1}, {"COMMAND", false, 0}},
                     {{"12345", "www-data", "1234.5", std::string(200, 'x')}}};
  };
  TextTable wide = table();
  fit(wide, 400);
  CHECK(wide.columns.size() == 4);
  CHECK(wide.rows[0].back().size() == 200);
  TextTable middle = table();
  fit(middle, 40);
  REQUIRE(middle.columns.size() == 3);
  CHECK(middle.columns[1].header == "PSS");
  CHECK(display_width(middle.rows[0].back()) == 40 - 5 - 1 - 6 - 1);
  TextTable narrow = table();
  fit(narrow, 3);
  REQUIRE(narrow.columns.size() == 2);
  CHECK(narrow.rows[0].back() == "…");
}

TEST_CASE("Names share the width: none is truncated next to a longer one") {
  use_utf8();
  const auto table = [](bool breaks) {
    return TextTable{{{"UNIT", false, 8}, {"SUBJECT", false, 0}, {"PSS", true, 0}, {"REASON", false, 0, breaks}},
                     {{"a.service", std::string(90, 's'), "12.5", std::string(300, 'r')}}};
  };
  TextTable wide = table(false);
  fit(wide, 200);
  REQUIRE(wide.columns.size() == 4);
  CHECK(wide.rows[0][0] == "a.service");
  CHECK(display_width(wide.rows[0][1]) == 90);
  CHECK(display_width(wide.rows[0][3]) == 200 - 9 - 1 - 90 - 1 - 4 - 1);
  TextTable middle = table(false);
  fit(middle, 120);
  CHECK(display_width(middle.rows[0][1]) == display_width(middle.rows[0][3]));
  CHECK(display_width(middle.rows[0][1]) == (120 - 9 - 1 - 4 - 2) / 2);
  // Sentences wrap, so that the names next to them stay complete.
  TextTable sentences = table(true);
  fit(sentences, 140);
  CHECK(display_width(sentences.rows[0][1]) == 90);
}

TEST_CASE("Text is truncated between characters, and wide ones count as two columns") {
  use_utf8();
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(shorten("日本語", 6) == "日本語");
  CHECK(shorten("日本語", 5) == "日本…");
  CHECK(shorten("日本語", 4) == "日…");
  CHECK(shorten("abc", 0).empty());
  CHECK(display_width("\xff\xff") == 2);
}

TEST_CASE("Sizes of a table share the unit that suits their median") {
  CHECK(std::string(choose_unit({12 << 20, 3 << 10, 5 << 10}, Units::automatic).name) == "MiB");
  CHECK(std::string(choose_unit({64 << 20, 31 << 20, 5 << 10}, Units::automatic).name) == "GiB");
  CHECK(std::string(choose_unit({10 << 20}, Units::automatic).name) == "GiB");
  CHECK(std::string(choose_unit({(10 << 20) - 1}, Units::automatic).name) == "MiB");
  CHECK(std::string(choose_unit({4, 100, 0, 0, 0}, Units::automatic).name) == "KiB");
  CHECK(std::string(choose_unit({}, Units::automatic).name) == "MiB");
  CHECK(std::string(choose_unit({64 << 20}, Units::kib).name) == "KiB");
  CHECK(std::string(choose_unit({4}, Units::mib).name) == "MiB");
  CHECK(std::string(choose_unit({4}, Units::gib).name) == "GiB");
  CHECK(format_size(3 << 19, Units::gib) == "1.5 GiB");
  CHECK(std::string(choose_unit({-(64LL << 20)}, Units::automatic).name) == "GiB");
}

TEST_CASE("Sizes, durations and counts are shown in words") {
  CHECK(format_size(1'468'006, Units::automatic) == "1.4 GiB");
  CHECK(format_size(-1'468'006, Units::automatic) == "-1.4 GiB");
  CHECK(format_size(1023, Units::automatic) == "1023 KiB");
  CHECK(format_size(3LL << 30, Units::automatic) == "3.0 TiB");
  CHECK(format_size(1'468'006, Units::kib) == "1468006 KiB");
  CHECK(format_size(512, Units::mib) == "0.5 MiB");
  CHECK(format_size(-20, Units::mib) == "0.0 MiB");
  CHECK(format_percent(-0.04) == "0.0%");
  CHECK(format_percent(-0.06) == "-0.1%");
  CHECK(format_span(250) == "250 ms");
  CHECK(format_span(40'000) == "40 s");
  CHECK(format_span(200'000) == "3 min 20 s");
  CHECK(format_span(86'280'000) == "23 h 58 min");
  CHECK(format_span(86'400'000) == "1 d");
  CHECK(format_span(100 * 3'600'000) == "4 d 4 h");
  CHECK(format_count(1, "gap", "gaps") == "1 gap");
}

TEST_CASE("Times are shown with their date, in the zone") {
  const test::ZoneGuard zone(test::kBerlin);
  CHECK(format_time(1'795'166'412'345, Zone::local) == "2026-11-20 10:20:12");
  CHECK(format_time(1'795'166'412'345, Zone::utc) == "2026-11-20 09:20:12 UTC");
  CHECK(format_time(-1, Zone::utc) == "1969-12-31 23:59:59 UTC");
}

TEST_CASE("Text breaks at spaces to fit the terminal, and continuation lines are indented") {
  use_utf8();
  CHECK(wrap("as it is", 8, 2) == "as it is");
  CHECK(wrap("one two three four", 9, 2) == "one two\n  three\n  four");
  CHECK(wrap("    indented text", 12, 6) == "    indented\n      text");
  CHECK(wrap("averylongword and more", 8, 2) == "averylongword\n  and\n  more");
  CHECK(wrap("日本 日本 日本", 9, 0) == "日本 日本\n日本");
  CHECK(wrap("", 8, 2).empty());
  CHECK(wrap("it grew by 134.7 MiB, then", 16, 2) == "it grew by\n  134.7 MiB,\n  then");
  CHECK(wrap("took 30 minutes", 7, 0) == "took 30\nminutes");
  CHECK(wrap("grew by 9.4 MiB/s", 14, 0) == "grew by\n9.4 MiB/s");
  CHECK(keep_units("it grew by 134.7 MiB in 30 minutes, 5 %") == "it grew by 134.7\u00A0MiB in 30 minutes, 5\u00A0%");

  Report report = hostile_report();
  report.notes = {"a note of some words, and then some more of them"};
  report.facts = {{"fact", "Fact", Kind::text, std::string("a value of some words, and some more")}};
  for (const std::size_t width : {20U, 30U, 40U, 60U}) {
    Presentation presentation{.zone = Zone::utc, .units = Units::kib, .color = false, .width = width};
    report.rows = {};
    for (const std::string& line : lines_of(render_table({"top", "x.db", "host"}, report, presentation))) {
      CAPTURE(width, line);
      CHECK(display_width(line) <= width);
    }
  }
}

TEST_CASE("Sentences in the last column wrap instead of being truncated") {
  const std::string said = "other users' processes may not be read: give memoird the capability";
  Report report;
  report.rows.columns = {{"kind", "KIND"}, {"text", "WHAT", Kind::text, 0, Shown::everywhere, true}};
  report.rows.rows = {{std::string("degraded"), said}, {std::string("gap"), std::string("short")}};
  const std::string text =
      render_table({}, report, {.zone = Zone::utc, .units = Units::kib, .color = false, .width = 40});
  CHECK(text ==
        "KIND     WHAT\n"
        "degraded other users' processes may not\n"
        "         be read: give memoird the\n"
        "         capability\n"
        "gap      short\n");
}

TEST_CASE("The ranking column comes first in tables, with a mark that the terminal can show") {
  use_utf8();
  Report report;
  report.rows.columns = {{"pid", "PID", Kind::count}, {"pss_kib", "PSS", Kind::size, 5}, {"name", "NAME"}};
  report.rows.rows = {{std::int64_t{1}, std::int64_t{2048}, std::string("a")}};
  mark_sorted(report.rows, "pss_kib");
  Presentation presentation{.zone = Zone::utc, .units = Units::kib, .width = std::nullopt};
  CHECK(render_table({}, report, presentation) == "PSS KiB ▼ PID NAME\n     2048   1 a\n");
  presentation.ascii = true;
  CHECK(render_table({}, report, presentation) == "PSS KiB v PID NAME\n     2048   1 a\n");
  presentation.width = 12;  // other columns are dropped first
  CHECK(render_table({}, report, presentation).find("PSS KiB v") == 0);
  CHECK(
      render_html({}, report, presentation).find("<th scope=\"col\" class=\"n sorted\" aria-sort=\"descending\">PSS") !=
      std::string::npos);
  CHECK(nlohmann::json::parse(render_json({}, report))["sorted_by"] == "pss_kib");
  CHECK(render_csv(report).find("pid,pss_kib,name") == 0);
}

}  // namespace render_test
