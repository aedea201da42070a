// Names crafted to break a table, a terminal, a parser or a page. The real writer stores them, and every command shows
// them, with every --group and in every format.

#include <algorithm>
#include <cwchar>
#include <map>
#include <re2/re2.h>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "query/args/filter.h"
#include "query/ask.h"
#include "query/commands.h"
#include "query/history.h"
#include "query/on_screen.h"
#include "query/state/command.h"
#include "query/zone_guard.h"
#include "support/catch.h"
#include "support/csv_records.h"

namespace names_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;

namespace {

const std::vector<std::string> kNames{
    "esc \x1b[31mred\x1b[0m\x1b]0;title\x07",
    "line\nbreak\ttab\rreturn",
    "日本語のプロセスの長い名前",
    "🚀 👩\u200d🚀 rockets",
    "e\u0301a\u0308 combining",
    "\u0301begins with one",
    "\u202eoverride \u2066isolate\u200f",
    "שלום עולם",
    "comma, \"quote\"; 'apostrophe'",
    "=HYPERLINK(\"http://x\",1)",
    "<script>alert('x')</script> & co",
    "| *pipe* `code` [link](u) _x_ #h @me ~s~ \\back",
    "c1 \u009b31m",
    "  spaces around  ",
    "private \ue000 unassigned \U0003ffff",
    "zero\u200bwidth\ufeff",
    "\u3164filler\u1160\u2800\u034f\uffa0 nginx\u200d",
    "WWW.example.com www.example.com mailto:a@b",
    "-dash",
    "%s%n {} {0}",
    "https://example.com/x",
    "a/b/c",
};

void record(History& history) {
  history.begin_run();
  std::int32_t pid = 100;
  for (const std::string& name : kNames) {
    ++pid;
    history.birth(pid, {name, name, name, name, "/" + name}, 10'240 + pid);
    history.cgroup({"/" + name, 10'240 + pid, {}, {}, {}, {}, {}});
    history.container({"/" + name, {"docker", name, name, name, name, name}});
    MappingRow mapped{{MappingKind::file, name}, {}};
    mapped.use.regions = 1;
    ProcessMappings summary{.regions = 1};
    summary.summary.rows.push_back(std::move(mapped));
    history.summary(pid, std::move(summary));
  }
  history.shmem(kNames);
  history.tick(20);
  history.event("degraded", "a name in a message: " + kNames[0] + kNames[6]);
  for (pid = 101; pid < 110; ++pid) history.hold(pid, 40'960 + pid);
  history.tick(10);
  history.death(103);
  history.tick(5);
  history.end_run();
}

constexpr auto ask = test::ask_recorded<record>;

// Returns the arguments that each command needs besides its name.
std::vector<std::string> words_of(const Command& command, const std::string& folder) {
  static const std::map<std::string, std::vector<std::string>> kMore{
      {"diff", {"2026-11-19 00:01", "2026-11-19 00:05"}},
      {"extract", {"--last", "2m", "--force", "-o"}},
      {"backup", {"--force", "-o"}},
      {"leaks", {"--all"}},
      {"export", {"processes"}},
      {"summary", {"--day", "2026-11-19"}},
  };
  std::vector<std::string> words{command.name};
  const auto more = kMore.find(command.name);
  if (more != kMore.end()) words.insert(words.end(), more->second.begin(), more->second.end());
  if (words.back() == "-o") words.push_back(folder + "/copy.db");
  return words;
}

// Returns each command that reads a file, by each of its groups, at a time and over a range if it accepts them.
std::vector<std::vector<std::string>> questions(const std::string& folder) {
  std::vector<std::vector<std::string>> all;
  const auto with = [](std::vector<std::string> words, std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
    return words;
  };
  for (const Command& command : commands()) {
    if (command.print || command.interact) continue;
    const std::vector<std::string> words = words_of(command, folder);
    all.push_back(words);
    for (const std::string& group : command.groups) all.push_back(with(words, {"--group", group}));
    if (command.name != "top") continue;
    for (const std::string& group : command.groups) all.push_back(with(words, {"--group", group, "--last", "10m"}));
  }
  all.push_back({"export"});
  for (const std::string& name : kNames) {
    all.push_back({"tmpfs", '/' + name});
    all.push_back({"trend", "category:" + name});
    all.push_back({"trend", "comm:" + name, "user:" + name, "cgroup:/" + name});
    all.push_back({"top", "--filter", "user=" + name});
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) all.push_back({"leaks", "--explain", std::to_string(101 + i)});
  return all;
}

// Returns true for formats that contain a single time and accept no subject.
bool is_snapshot(const std::string& format) {
  return format == "smaps-rollup" || format == "category-metrics";
}

// Returns the characters of the text in the locale; fails if it is not UTF-8.
std::vector<wchar_t> characters_of(const std::string& text) {
  std::vector<wchar_t> characters;
  std::mbstate_t state{};
  for (std::size_t at = 0; at < text.size();) {
    wchar_t c = 0;
    const std::size_t bytes = std::mbrtowc(&c, text.data() + at, text.size() - at, &state);
    if (bytes == 0 || bytes > text.size()) FAIL("not UTF-8: " << text);
    characters.push_back(c);
    at += bytes;
  }
  return characters;
}

bool disturbs(wchar_t c) {
  return (c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || c == 0x34f || c == 0x61c || c == 0x1160 || c == 0x200b ||
         c == 0x200e || c == 0x200f || c == 0x2800 || c == 0x3164 || c == 0xffa0 || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void check_harmless(const std::string& text) {
  for (const wchar_t c : characters_of(text)) {
    if (!disturbs(c)) continue;
    CAPTURE(text, static_cast<int>(c));
    FAIL("a control character");
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Returns the character in each column of the terminal; 0 in the second column of a wide character.
std::vector<wchar_t> cells_of(const std::string& line) {
  std::vector<wchar_t> cells;
  for (const wchar_t c : characters_of(line)) {
    const int width = wcwidth(c);
    if (width < 0) FAIL("no width: " << line);
    if (width == 0) continue;
    cells.push_back(c);
    if (width == 2) cells.push_back(0);
  }
  return cells;
}

// Checks that the last column of a table starts at its heading in every row, with a space before it.
void check_aligned(const std::vector<std::string>& lines, const std::string& head, std::size_t rows) {
  const auto header = std::ranges::find_if(lines, [&](const std::string& line) { return line.ends_with(head); });
  REQUIRE(header != lines.end());
  const std::size_t column = cells_of(*header).size() - cells_of(head).size();
  REQUIRE(static_cast<std::size_t>(lines.end() - header) > rows);
  for (auto line = header + 1; line != header + 1 + static_cast<std::ptrdiff_t>(rows); ++line) {
    CAPTURE(*header, *line);
    const std::vector<wchar_t> cells = cells_of(*line);
    if (column > 0) CHECK(cells.at(column - 1) == ' ');
  }
}

void check_csv(const std::string& text) {
  const auto records = test::csv_records(text);
  REQUIRE(records);
  REQUIRE_FALSE(records->empty());
  for (const auto& record : *records) REQUIRE_OF_MANY(record.size() == records->front().size());
}

// Checks that there is no foreign markup, and that each & starts an entity.
void check_html(const std::string& page) {
  check_harmless(page);
  static const RE2 kOurs(
      "<(!DOCTYPE html|/?(html|head|meta|title|style|body|main|p|h1|h2|div|dl|dt|dd|table|thead|tbody|tr|th|td|bdi|"
      "pre|section|footer|figure|figcaption|span|svg|path|rect|text)( [^<>]*)?/?)>");
  std::string rest = page.substr(page.find("<main>"));
  RE2::GlobalReplace(&rest, kOurs, "");
  CHECK(rest.find('<') == std::string::npos);
  CHECK(rest.find('>') == std::string::npos);
  static const RE2 kEntities("&(amp|lt|gt|quot|#[0-9]+);");
  RE2::GlobalReplace(&rest, kEntities, "");
  CHECK(rest.find('&') == std::string::npos);
}

void check_markdown(const std::string& text) {
  check_harmless(text);
  CHECK(text.find("<script") == std::string::npos);
  CHECK(text.find("http:") == std::string::npos);
  CHECK(text.find("www.") == std::string::npos);
  CHECK(text.find("WWW.") == std::string::npos);
  CHECK(text.find("mailto:") == std::string::npos);
  std::ptrdiff_t bars = 0;
  for (const std::string& line : lines_of(text)) {
    const std::ptrdiff_t here = std::ranges::count(line, '|');
    if (bars > 0 && here > 0) REQUIRE_OF_MANY(here == bars);
    bars = here;
  }
}

// The form is name{label="value",…} value timestamp; in a value only \\, \" and
//  are escaped (OpenMetrics 1.0).
void check_openmetrics(const std::string& text, std::set<std::string>& comms) {
  static const RE2 kSample(
      "[a-z_]+\\{((?:[a-z_]+=\"(?:[^\"\\\\]|\\\\[\"\\\\n])*\",?)*)\\} [-+.e0-9]+ [0-9]+\\.[0-9]{3}");
  static const RE2 kComm("(?:^|,)comm=\"((?:[^\"\\\\]|\\\\[\"\\\\n])*)\"");
  const std::vector<std::string> lines = lines_of(text);
  REQUIRE_FALSE(lines.empty());
  CHECK(lines.back() == "# EOF");
  for (const std::string& line : lines) {
    if (line.starts_with("# ")) continue;
    std::string labels;
    if (!RE2::FullMatch(line, kSample, &labels)) FAIL("no sample: " << line);
    std::string comm;
    if (RE2::PartialMatch(labels, kComm, &comm)) comms.insert(comm);
  }
}

void check(const std::string& format, const std::string& text) {
  if (format == "table") check_harmless(text);
  if (format == "csv") check_csv(text);
  if (format == "html") check_html(text);
  if (format == "markdown") check_markdown(text);
  if (format == "jsonl") {
    for (const std::string& line : lines_of(text)) CHECK(nlohmann::json::parse(line).is_object());
  }
  if (format == "json" || is_snapshot(format)) {
    CHECK_NOTHROW(nlohmann::json::parse(text).dump());
    CHECK(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c < 0x7f); }));
  }
  std::set<std::string> comms;
  if (format == "openmetrics") check_openmetrics(text, comms);
}

}  // namespace

TEST_CASE("Hostile names: every command, in every format, is complete and harmless") {
  const test::TemporaryDirectory folder;
  for (const std::vector<std::string>& words : questions(folder.path())) {
    for (const std::string& format : find_command(words.front())->formats) {
      if (is_snapshot(format) && words.size() > 1) continue;
      std::vector<std::string> arguments = words;
      arguments.insert(arguments.end(), {"--format", format});
      CAPTURE(arguments);
      const Outcome outcome = ask(arguments);
      CAPTURE(outcome.error);
      check_harmless(outcome.error);
      // doctor reports that there is no recorder
      REQUIRE((outcome.exit == Exit::answered || words.front() == "doctor"));
      check(format, outcome.out);
    }
  }
}

TEST_CASE("Hostile names: every table fits a terminal of 80 columns, and is complete in a pipe") {
  const test::ZoneGuard zone("UTC");
  const test::TemporaryDirectory folder;
  for (const std::vector<std::string>& words : questions(folder.path())) {
    const Command& command = *find_command(words.front());
    if (!command.run) continue;
    CAPTURE(words);
    const Result<std::string> text =
        test::answer_on_screen(recorded<record>().path(), recorded<record>().now_ms(), words);
    REQUIRE(text.ok());
    check_harmless(*text);
    for (const std::string& line : lines_of(*text)) {
      // A path is a single word and is not truncated.
      const bool path =
          line.find(folder.path()) != std::string::npos || line.find(recorded<record>().path()) != std::string::npos;
      CAPTURE(line);
      if (!path) REQUIRE_OF_MANY(cells_of(line).size() <= 80);
    }
  }
}

TEST_CASE("Hostile names: columns stay aligned") {
  const test::ZoneGuard zone("UTC");
  struct Asked {
    std::vector<std::string> words;
    const char* head;
  };
  for (const Asked& asked :
       {Asked{{"top", "--limit", "10"}, "COMMAND"}, Asked{{"top", "--group", "user", "--limit", "10"}, "USER"},
        Asked{{"top", "--last", "5m", "--limit", "10"}, "COMMAND"}, Asked{{"processes", "--limit", "10"}, "COMMAND"},
        Asked{{"categories", "--limit", "10"}, "CATEGORY"}, Asked{{"peaks", "--limit", "10"}, "COMMAND"}}) {
    for (const std::size_t columns : {60U, 80U, 200U}) {
      CAPTURE(asked.words, columns);
      const Result<std::string> text = test::answer_on_screen(recorded<record>().path(), recorded<record>().now_ms(),
                                                              asked.words, Screen{columns, 24});
      REQUIRE(text.ok());
      check_aligned(lines_of(*text), asked.head, 10);
    }
  }
}

TEST_CASE("Hostile names: data formats have them as they were recorded") {
  const std::set<std::string> names(kNames.begin(), kNames.end());
  const auto csv = test::csv_records(ask({"processes", "--limit", "0", "--format", "csv"}).out);
  REQUIRE(csv);
  const test::CsvRecords& records = *csv;
  const auto column = std::ranges::find(records.front(), "comm") - records.front().begin();
  std::set<std::string> read;
  for (std::size_t at = 1; at < records.size(); ++at) read.insert(records[at][static_cast<std::size_t>(column)]);
  CHECK(read == names);

  read.clear();
  const auto answer = nlohmann::json::parse(ask({"processes", "--limit", "0", "--format", "json"}).out);
  for (const auto& row : answer["rows"]) read.insert(row["comm"].get<std::string>());
  CHECK(read == names);

  std::set<std::string> escaped;
  check_openmetrics(ask({"export", "processes", "--format", "openmetrics"}).out, escaped);
  read.clear();
  for (std::string comm : escaped) {
    for (std::size_t at = comm.find('\\'); at != std::string::npos; at = comm.find('\\', at + 1)) {
      comm.erase(at, 1);
      if (comm[at] == 'n') comm[at] = '\n';
    }
    read.insert(comm);
  }
  CHECK(read == names);
}

TEST_CASE("Hostile names: ambiguous or misspelt names are shown harmlessly and can be typed") {
  for (const std::string& name : kNames) {
    for (const std::string& key : filter_keys()) {
      CAPTURE(name, key);
      if (key == "pid") continue;
      const Outcome near = ask({"trend", key + ":" + name + "x"});
      CHECK(near.exit == Exit::empty);
      check_harmless(near.error);
    }
    const Outcome word = ask({"trend", "x" + name});
    CHECK(word.exit == Exit::empty);
    check_harmless(word.error);
  }
}

}  // namespace names_test
