// Sessions of memoir view on a recording: keys, and the screens that follow.

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <set>
#include <tuple>

#include "base/text.h"
#include "query/ask.h"
#include "query/golden.h"
#include "query/render/layout.h"
#include "query/render/render.h"
#include "query/view/keys.h"
#include "query/view/worker.h"
#include "query/view_player.h"
#include "query/view_shop.h"
#include "support/catch.h"

namespace view_session_test {

using namespace memoir::test;
using memoir::query::Screen;
using memoir::query::view::Page;
using memoir::query::view::place;
using memoir::query::view::Start;

namespace {

constexpr std::int64_t kMib = 1024;

void record_nginx(History& history, int ticks) {
  history.begin_run();
  history.machine(1200 * kMib);
  history.birth(7, {"nginx", "nginx: worker", "web"}, 50 * kMib);
  history.tick(ticks);
}

}  // namespace

TEST_CASE("Golden screens of each page at 80x24") {
  Screens screens(recorded<record_shop>());
  const std::array<std::pair<const char*, const char*>, 7> pages{{{"processes", "1"},
                                                                  {"cgroups", "2"},
                                                                  {"tree", "3"},
                                                                  {"memory", "4"},
                                                                  {"events", "5"},
                                                                  {"incident", "6"},
                                                                  {"help", "1 ?"}}};
  for (const auto& [name, keys] : pages) {
    screens.press(keys);
    compare_with_golden(std::string("view-") + name + ".txt", screens.text());
  }
}

TEST_CASE("Golden screens of other sizes, ASCII and styles") {
  compare_with_golden("view-160x45.txt", Screens(recorded<record_shop>(), {160, 45}).text());
  compare_with_golden("view-60x16.txt", Screens(recorded<record_shop>(), {60, 16}, {}, true).text());
  compare_with_golden("view-40x8.txt", Screens(recorded<record_shop>(), {40, 8}).text());
  Screens styles(recorded<record_shop>());
  styles.press("E 2");
  compare_with_golden("view-styles.txt", styles.styles());
}

TEST_CASE("The last kill: the view starts at its victim, Enter shows the history, 6 the story") {
  Start from;
  from.last_oom = true;
  Screens screens(recorded<record_shop>(), {80, 24}, from);
  const std::string first = screens.text();
  compare_with_golden("view-last-oom.txt", first);
  CHECK(has(first, "PAUSED"));
  CHECK(has(first, "K python3 (32702) in shop.service"));
  screens.press("Enter");
  compare_with_golden("view-victim.txt", screens.text());
  screens.press("Esc 6");
  CHECK(has(screens.text(), "The OOM killer killed python3 (32702)"));
}

TEST_CASE("From the last tick E finds the kill, and 6 explains it") {
  Screens screens(recorded<record_shop>());
  CHECK(has(screens.text(), "ENDED"));
  screens.press("E 6");
  CHECK(has(screens.text(), "OOM kill"));
  screens.press("E");
  CHECK(has(screens.text(), "no OOM kill before this time"));
}

TEST_CASE("Growth without a kill: the process that grew since a mark is the first row") {
  Screens screens(recorded<record_shop>());
  screens.press("b");
  screens.type("00:30");
  screens.press("Enter m b");
  screens.type("00:49");
  screens.press("Enter d");
  const std::string text = screens.text();
  CHECK(has(text, "compared with 2026-11-19 00:30:00"));
  const std::size_t row = text.find("\n>");
  REQUIRE(row != std::string::npos);
  CHECK(has(text.substr(row, text.find('\n', row + 1) - row), "32702"));
}

TEST_CASE("A view follows the recorder, and reports that it stopped") {
  History history;
  record_nginx(history, 30);
  Screens screens(history);
  history.hold(7, 70 * kMib);
  history.tick();
  screens.tick(history.now_ms());
  CHECK(has(screens.text(), "70.0   7 "));
  screens.press("Space");
  history.hold(7, 90 * kMib);
  history.tick(3);
  screens.tick(history.now_ms());
  CHECK(has(screens.text(), "70.0   7 "));
  CHECK(has(screens.text(), "PAUSED +3"));
  screens.press("F");
  CHECK(has(screens.text(), "90.0   7 "));
  history.end_run();
  screens.tick(history.now_ms() + 3'600'000);
  CHECK(has(screens.text(), "ENDED 1 h ago"));
}

TEST_CASE("The bar of a view that followed the recorder equals that of a new view") {
  History history;
  record_nginx(history, 30);
  Screens screens(history);
  for (int tick = 1; tick < 30; ++tick) {
    history.machine((1200 + 10 * (tick * 7 % 30)) * kMib);
    history.machine(memoir::MachineField::psi_some_total, tick * 100'000);
    history.hold(7, (50 + tick) * kMib);
    history.tick();
    screens.tick(history.now_ms());
    if (tick == 18) screens.press("Enter");
    if (tick == 23) screens.press("Esc");
    if (tick < 18 || tick > 23) CHECK(screens.text() == Screens(history).text());
  }
}

TEST_CASE("Another file at the path is shown from its last tick") {
  const auto recorded_until = [](int ticks) {
    auto history = std::make_unique<History>();
    record_nginx(*history, ticks);
    history->end_run();
    return history;
  };
  const auto history = recorded_until(30);
  const auto other = recorded_until(90);
  Screens screens(*history);
  screens.press("T");
  REQUIRE(std::rename(other->path().c_str(), history->path().c_str()) == 0);
  screens.tick(other->now_ms());
  CHECK(has(screens.text(), "PAUSED  "));
  CHECK(has(screens.text(), "another file is at this path now"));
}

TEST_CASE("Keys step through the columns and ticks of the recording, in both directions") {
  for (const auto& [right, left, zooms] : {std::tuple("Right", "Left", ""), std::tuple("Right", "Left", "+ + +"),
                                           std::tuple("t", "T", ""), std::tuple("]", "[", "- -")}) {
    CAPTURE(right, zooms);
    Screens screens(recorded<record_shop>());
    screens.press(zooms);
    screens.press("r");
    const auto& recorded = screens.model().recorded;
    CHECK(screens.model().at_ms == recorded.first_ms);
    int steps = 0;
    for (; screens.model().at_ms < recorded.last_ms && steps < 60; ++steps) {
      const std::int64_t before = screens.model().at_ms;
      screens.press(right);
      REQUIRE(screens.model().at_ms > before);
    }
    for (; screens.model().at_ms > recorded.first_ms && steps > 0; --steps) {
      const std::int64_t before = screens.model().at_ms;
      screens.press(left);
      REQUIRE(screens.model().at_ms < before);
    }
  }
}

TEST_CASE("Recorded keys are played without a terminal") {
  const TemporaryDirectory directory;
  const std::string keys = directory.path() + "/keys";
  std::ofstream(keys) << "E\n6\nb 0 0 : 3 0 Enter 1\nq\n1\n";
  const auto outcome = ask(recorded<record_shop>(), {"view", "--play-keys", keys, "--utc"});
  CHECK(outcome.exit == memoir::query::Exit::answered);
  const auto screens = std::ranges::count(outcome.out, '\n') / 24;
  CHECK(screens == 5);  // one before the keys, and one after each line up to q
  CHECK(has(outcome.out, "K python3 (32702) in shop.service"));
  CHECK(has(outcome.out, "2026-11-19 00:30:00 UTC"));
}

TEST_CASE("X writes an extract, which can be viewed") {
  const History& history = recorded<record_shop>();
  Screens screens(history);
  const TemporaryDirectory directory;
  const ManualClock clock{{}};
  const memoir::query::Interaction around{clock, memoir::query::commands(), parse_words, {}};
  const memoir::query::view::AskFor question{memoir::query::view::Slot::save,
                                             1,
                                             {"extract", "--from", "00:45", "--to", "00:50", "--utc"},
                                             false,
                                             directory.path() + "/incident"};
  const auto save = [&] { return answer_question(screens.session(), around, question, history.now_ms(), {}); };
  CHECK(save().file == directory.path() + "/incident.db");
  CHECK(save().file == directory.path() + "/incident-2.db");
  const auto session = memoir::query::Session::open(directory.path() + "/incident.db");
  REQUIRE(session);
  CHECK(session->file().ticks < screens.model().recorded.ticks);
  CHECK(session->file().last_tick_ms < screens.model().recorded.last_ms - 4 * 60'000);
}

TEST_CASE("An extract and a page are answered at the same time; an extract ends with the view") {
  const History& history = recorded<record_shop>();
  const TemporaryDirectory directory;
  const ManualClock clock{{history.now_ms(), 0}};
  const memoir::query::Interaction around{clock, memoir::query::commands(), parse_words, {}};
  using namespace memoir::query::view;
  const auto ask_extract = [&directory](Worker& worker) {
    worker.ask(
        {Slot::save, 1, {"extract", "--from", "00:45", "--to", "00:50", "--utc"}, false, directory.path() + "/x"});
  };
  {
    Worker worker(memoir::query::Session::open(history.path()).value(), around);
    ask_extract(worker);
    worker.ask({Slot::page, 2, {"top", "--at", "00:45", "--utc"}, false, {}});
    std::set<Slot> answered;
    while (answered.size() < 2) {
      pollfd ready{worker.file(), POLLIN, 0};
      REQUIRE(poll(&ready, 1, 60'000) == 1);
      for (const Msg& msg : worker.take()) {
        const auto* const answer = std::get_if<Answered>(&msg);
        if (answer == nullptr) continue;
        CHECK(answer->error.empty());
        answered.insert(answer->slot);
      }
    }
    CHECK(std::filesystem::remove(directory.path() + "/x.db"));
    ask_extract(worker);
  }
  // The second extract was completed, or it left no file.
  for (const auto& file : std::filesystem::directory_iterator(directory.path()))
    CHECK(file.path().filename() == "x.db");
}

TEST_CASE("Before the first tick the view waits for it") {
  History history;
  history.begin_run();
  Screens screens(history);
  CHECK(has(screens.text(), "Nothing is recorded yet."));
  screens.press("T Left E d 5 Enter 6 Esc F");
  history.machine(1200 * kMib);
  history.birth(7, {"nginx", "nginx: worker", "web"}, 50 * kMib);
  history.tick(2);
  screens.tick(history.now_ms());
  screens.press("1");
  CHECK(has(screens.text(), "nginx: worker"));
}

TEST_CASE("The details of a row have each column with its heading, wrapped at the edge") {
  History history;
  history.begin_run();
  history.machine(1200 * kMib);
  history.birth(7, {"long", "long " + std::string(100, 'x') + " end", "web"}, 50 * kMib);
  history.tick(3);
  Screens screens(history);
  screens.press("w");
  const std::string text = screens.text();
  CHECK(has(text, "PID        7"));
  CHECK(has(text, "xx end"));
  CHECK(has(text, "USER       root"));
  screens.press("w");
  CHECK(has(screens.text(), "PSS MiB"));
}

TEST_CASE("Names of processes cannot change the screen") {
  History history;
  history.begin_run();
  history.machine(1200 * kMib);
  history.birth(7, {"e\x1b[2J", "evil\x1b[2J\n\x9b" + std::string(4000, 'x'), "web"}, 50 * kMib);
  history.birth(8, {"wide", "\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e \u202e rtl", "web"}, 40 * kMib);
  history.tick(3);
  Screens screens(history);
  for (const char* keys : {"1", "Enter", "Esc 3", "f", "y"}) {
    screens.press(keys);
    std::string_view rest = std::string_view();
    const std::string text = screens.text();
    for (rest = text; !rest.empty();) {
      const std::string_view line = memoir::cut_line(rest);
      CHECK(line.find('\x1b') == std::string_view::npos);
      CHECK(memoir::query::display_width(line) <= 80);
    }
  }
}

TEST_CASE("Any keys in any order give a complete screen") {
  // Presses keys of the table in a random order, which is the same in each run.
  std::vector<std::string> keys;
  for (const auto& row : memoir::query::view::key_table()) {
    std::string_view names = row.keys;
    for (std::string_view key = memoir::cut_word(names); !key.empty(); key = memoir::cut_word(names))
      if (key != "q" && key != "F10" && key != "^Z") keys.emplace_back(key);
  }
  for (const char* other : {"x", "7", "=", "Tab", "\u00e4"}) keys.emplace_back(other);
  std::uint32_t state = 12345;
  Screens screens(recorded<record_shop>());
  for (int step = 0; step < 400; ++step) {
    state = state * 1664525 + 1013904223;
    const std::string& key = keys[(state >> 8U) % keys.size()];
    CAPTURE(step, key);
    screens.press(key);
    if (step % 40 == 0)
      screens.send(memoir::query::view::Resized{{40 + (state >> 16U) % 120, 8 + (state >> 10U) % 40}});
    const auto& model = screens.model();
    const std::string text = screens.text();
    CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) == std::max<std::size_t>(model.screen.lines, 8));
    CHECK(model.at_ms >= model.recorded.first_ms);
    CHECK(model.at_ms <= model.recorded.last_ms);
  }
}

}  // namespace view_session_test
