// Without --limit an answer with title and headings fits the terminal; in a pipe it has 20 rows.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "query/on_screen.h"
#include "query/render/layout.h"
#include "query/zone_guard.h"
#include "support/catch.h"
#include "support/manual_clock.h"

namespace limit_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;

namespace {

constexpr std::int32_t kProcesses = 120;
constexpr std::int32_t kCategories = 30;

void record(History& history) {
  history.begin_run();
  history.machine(9'000'000, 64'000);
  for (std::int32_t pid = 1; pid <= kProcesses; ++pid) {
    const std::string category = "category-" + std::to_string(pid % kCategories);
    history.birth(pid, {"worker", "worker " + std::to_string(pid), category}, 1'000'000 + pid * 1000);
  }
  history.tick(2);
  for (std::int32_t pid = 1; pid <= kProcesses; ++pid) history.hold(pid, 1'000'100 + pid * 1000);
  history.tick(1);
  history.end_run();
}

// Returns the command's output on a terminal of this size, or in a pipe without one.
std::vector<std::string> lines_of(const std::vector<std::string>& arguments, std::optional<Screen> screen) {
  const test::ZoneGuard zone("UTC");
  const History& history = recorded<record>();
  const std::string text = test::answer_on_screen(history.path(), history.now_ms(), arguments, screen).value();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::size_t height(const std::vector<std::string>& lines, std::size_t columns) {
  std::size_t height = 0;
  for (const std::string& line : lines)
    height += std::max<std::size_t>(1, (display_width(line) + columns - 1) / columns);
  return height;
}

constexpr auto ask = test::ask_recorded<record>;

std::size_t rows_of(const std::string& format, const std::string& text) {
  if (format == "json") return nlohmann::json::parse(text)["rows"].size();
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - 1;
}

// Returns the number of lines of an answer that `watch` fits to its screen.
std::size_t watched_height(std::vector<std::string> words) {
  use_utf8();
  const test::ZoneGuard zone("UTC");
  const History& history = recorded<record>();
  words.insert(words.end(), {"--db", history.path()});
  const Outcome outcome = run_query(words, test::ManualClock({history.now_ms(), 0}), {}, Screen{80, 24, true});
  CAPTURE(words, outcome.out, outcome.error);
  CHECK(outcome.exit == Exit::answered);
  return static_cast<std::size_t>(std::ranges::count(outcome.out, '\n'));
}

bool has(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(),
                     [part](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("An answer fits its terminal and counts omitted rows") {
  const Screen screen = GENERATE(Screen{80, 24}, Screen{60, 24}, Screen{100, 35}, Screen{132, 50}, Screen{200, 90});
  const auto arguments =
      GENERATE(std::vector<std::string>{"top"}, std::vector<std::string>{"top", "--last", "1h"},
               std::vector<std::string>{"top", "--group", "category"}, std::vector<std::string>{"peaks"},
               std::vector<std::string>{"peaks", "--last", "1h"}, std::vector<std::string>{"processes"},
               std::vector<std::string>{"peaks", "--group", "category"}, std::vector<std::string>{"categories"},
               std::vector<std::string>{"categories", "--last", "1h"});
  const auto lines = lines_of(arguments, screen);
  CAPTURE(arguments, screen.columns, screen.lines, lines);
  CHECK(height(lines, screen.columns) < screen.lines);
  if (screen.lines < kCategories) CHECK(has(lines, "--limit"));
}

TEST_CASE("A watched answer fits its screen: sections that do not fit are left out") {
  for (const char* command : {"status", "incident", "memory", "top"}) {
    CAPTURE(command);
    CHECK(watched_height({command}) < 24);
  }
  CHECK(watched_height({"summary", "--day", "today", "--all"}) < 24);
  CHECK(watched_height({"status"}) >= 12);  // the screen lacks only the last lines of text
}

TEST_CASE("peaks on a large terminal shows the categories and the other processes at that time") {
  const auto lines = lines_of({"peaks"}, Screen{132, 60});
  CHECK(has(lines, "of 30 categories shown (--group category shows all)."));
  CHECK(has(lines, "process 120, "));
  CHECK(has(lines, "highest swap in use"));
}

TEST_CASE("Option --limit overrides the height of the terminal, and a pipe gets 20 rows") {
  CHECK(has(lines_of({"top", "--limit", "33"}, Screen{80, 24}), "33 of 120 rows"));
  CHECK(has(lines_of({"peaks", "--limit", "33"}, Screen{80, 24}), "33 of 120 rows"));
  CHECK(has(lines_of({"top"}, std::nullopt), "20 of 120 rows"));
  CHECK(has(lines_of({"peaks"}, std::nullopt), "20 of 120 rows"));
  CHECK(has(lines_of({"peaks"}, std::nullopt), "category-29"));
  CHECK(lines_of({"top", "--limit", "0"}, Screen{80, 24}).size() > 120);
}

TEST_CASE("CSV and JSON have all rows, unless --limit is given, with a note on standard error") {
  struct Asked {
    std::vector<std::string> words;
    std::size_t rows;
  };
  for (const char* format : {"csv", "json"}) {
    for (const Asked& asked :
         {Asked{{"top"}, kProcesses}, Asked{{"top", "--last", "1h"}, kProcesses}, Asked{{"processes"}, kProcesses},
          Asked{{"peaks"}, kProcesses}, Asked{{"peaks", "--last", "1h"}, kProcesses},
          Asked{{"categories"}, kCategories}, Asked{{"categories", "--last", "1h"}, kCategories},
          Asked{{"diff", "2026-11-19 00:00:15", "2026-11-19 00:00:25"}, kProcesses},
          Asked{{"top", "--group", "category"}, kCategories}}) {
      std::vector<std::string> words = asked.words;
      words.insert(words.end(), {"--format", format});
      CAPTURE(words);
      const Outcome whole = ask(words);
      CHECK(rows_of(format, whole.out) == asked.rows);
      CHECK(whole.error.empty());
      words.insert(words.end(), {"--limit", "7"});
      const Outcome cut = ask(words);
      CHECK(rows_of(format, cut.out) == 7);
      CHECK(cut.error.find("7 ") != std::string::npos);
      CHECK(cut.error.find("--limit 0 shows all") != std::string::npos);
    }
  }
}

}  // namespace limit_test
