// memoir view: from keys to the words of commands, without a file.

#include <algorithm>
#include <map>

#include "query/view/draw.h"
#include "query/view/lines.h"
#include "query/view/pages.h"
#include "query/view_messages.h"
#include "support/catch.h"

namespace view_update_test {

using namespace memoir::test::view;

TEST_CASE("The view starts at the last tick and requests the page, the machine, the bar and its events") {
  const Played played;
  CHECK(played.words() == Words{"top", "--at", "2026-11-25 02:15:30", "--limit", "1000"});
  CHECK(played.words(Slot::machine).empty());  // they are in the totals of the page
  CHECK(played.words(Slot::bar) ==
        Words{"trend", "machine", "--step", "1m", "--from", "2026-11-25 01:02:00", "--to", "2026-11-25 02:15:59"});
  CHECK(played.words(Slot::letters).front() == "events");
  CHECK(played.model.following);
}

TEST_CASE("A step back pauses; keys pressed before its answer are combined into one further seek") {
  Played played;
  played.press("T");
  CHECK(played.seek.at_ms == kNow);
  CHECK(played.seek.steps == -1);
  CHECK_FALSE(played.model.following);
  played.press("T T T t");
  CHECK(played.seek.steps == -1);
  played.found(kNow - 10'000);
  CHECK(played.seek.at_ms == kNow - 10'000);
  CHECK(played.seek.steps == -2);
  played.found(kNow - 30'000);
  CHECK(played.words()[2] == "2026-11-25 02:15:00");
}

TEST_CASE("A following view repeats its requests at each tick; a paused one stays at its tick") {
  Played played;
  played.send(Ticked{recorded(kNow + 10'000)});
  CHECK(played.words()[2] == "2026-11-25 02:15:40");
  const auto bar = played.asked.at(Slot::bar).id;
  played.press("Space");
  played.send(Ticked{recorded(kNow + 20'000)});
  CHECK(played.words()[2] == "2026-11-25 02:15:40");
  CHECK(played.asked.at(Slot::bar).id > bar);  // its last column has changed
  played.press("F");
  CHECK(played.words()[2] == "2026-11-25 02:15:50");
}

TEST_CASE("A tick requests only the last column of the bar, once the others have arrived") {
  Played played;
  const auto from = [&played](Slot slot) {
    const Words words = played.words(slot);
    return *(std::ranges::find(words, "--from") + 1);
  };
  const std::vector<Slot> slots{Slot::bar, Slot::pressure, Slot::letters};
  played.answer(Slot::bar, trend({{kNow - 90'000, 1000}, {kNow - 30'000, 2000}}));
  played.send(Ticked{recorded(kNow + 10'000)});
  for (const Slot slot : slots) CHECK(from(slot) == "2026-11-25 01:02:00");  // some have not been answered
  played.answer(Slot::bar, trend({{kNow - 90'000, 1000}, {kNow - 30'000, 2000}}));
  played.answer(Slot::pressure, trend({}));
  played.answer(Slot::letters, events({{kNow - 90'000, "alert"}, {kNow - 20'000, "burst"}}));
  played.send(Ticked{recorded(kNow + 20'000)});
  for (const Slot slot : slots) CHECK(from(slot) == "2026-11-25 02:15:00");
  played.answer(Slot::bar, trend({{kNow - 30'000, 3000}}));
  played.answer(Slot::pressure, trend({}));
  played.answer(Slot::letters, events({{kNow - 20'000, "burst"}, {kNow + 15'000, "alert"}}));
  const TimeBar& bar = played.model.bar;
  REQUIRE(bar.columns.size() == 74);
  CHECK(bar.columns[72].max == 1000.0);
  CHECK(bar.columns[73].max == 3000.0);
  CHECK(bar.letters.size() == 3);
  // The bar moves by a column, so all of it is requested again.
  played.send(Ticked{recorded(kNow + 30'000)});
  for (const Slot slot : slots) CHECK(from(slot) == "2026-11-25 01:03:00");
  CHECK(bar.columns[71].max == 1000.0);
}

TEST_CASE("Another file at the path resets the count since the pause, and the mark") {
  Played played;
  played.press("m T");
  played.found(kNow - 10'000);
  RecordingInfo other = recorded(kNow - 500 * kMinute);
  other.ticks = 9000;
  other.file = 1;
  played.send(Ticked{other});
  CHECK(played.model.seen_ticks == 9000);
  CHECK_FALSE(played.model.mark_ms);
  CHECK(played.seek.at_ms == other.last_ms);
  CHECK(played.model.bar.holds(other.last_ms));
}

TEST_CASE("The answer to an outdated request is dropped") {
  Played played;
  const AskFor before = played.asked.at(Slot::page);
  played.send(Ticked{recorded(kNow + 10'000)});
  played.send(Answered{Slot::page, before.id, std::make_shared<const Report>(processes({1})), {}, {}});
  CHECK(played.model.lines.empty());
  played.answer(Slot::page, processes({1, 2}));
  CHECK(played.model.lines.size() == 2);
}

TEST_CASE("The selection follows its process") {
  Played played;
  played.answer(Slot::page, processes({11, 12, 13}));
  played.press("j j");
  CHECK(place(played.model).selected == 2);
  played.send(Ticked{recorded(kNow + 10'000)});
  played.answer(Slot::page, processes({13, 11, 12}));
  CHECK(place(played.model).selected == 0);
  played.send(Ticked{recorded(kNow + 20'000)});
  played.answer(Slot::page, processes({11, 12}));
  CHECK(played.model.message == "the selected row is not there at this time");
}

TEST_CASE("Pages are commands at the time of the cursor") {
  Played played;
  const std::map<std::string, Words> pages{
      {"2", {"cgroups", "--at", "2026-11-25 02:15:30", "--limit", "1000"}},
      {"F5", {"tree", "--at", "2026-11-25 02:15:30", "--limit", "1000"}},
      {"4", {"memory", "--at", "2026-11-25 02:15:30"}},
      {"5", {"events", "--from", "2026-11-25 01:02:00", "--to", "2026-11-25 02:15:59", "--limit", "1000"}},
      {"6", {"incident", "--at", "2026-11-25 02:15:30"}}};
  for (const auto& [key, words] : pages) {
    CAPTURE(key);
    played.press(key);
    CHECK(played.words() == words);
  }
  CHECK(played.words(Slot::machine) == Words{"top", "--at", "2026-11-25 02:15:30", "--limit", "1"});
  played.press("6 Tab");
  CHECK(played.words().front() == "top");
}

TEST_CASE("Filters, groups and orders are options of the page's command") {
  Played played;
  played.press("/");
  played.type("user=shop");
  played.press("Enter");
  CHECK(played.words() == Words{"top", "--at", "2026-11-25 02:15:30", "--filter", "user=shop", "--limit", "1000"});
  played.press("/ ^U");
  played.type("worker");
  played.press("Enter s j Enter");
  CHECK(played.words() ==
        Words{"top", "--at", "2026-11-25 02:15:30", "--by", "rss", "--filter", "command~worker", "--limit", "1000"});
  played.press("f j j j Enter");
  CHECK(played.words()[4] == "category");
  played.press("Esc");
  CHECK(played.words() == Words{"top", "--at", "2026-11-25 02:15:30", "--by", "rss", "--limit", "1000"});
  played.press(">");
  CHECK(played.words()[4] == "uss");
  played.press("/");
  played.type("pid~[");
  played.press("Enter");
  CHECK(played.model.prompt.ask == Ask::filter);
  CHECK_FALSE(played.model.prompt.problem.empty());
}

TEST_CASE("M sorts by memory again; --tier is an option of each command that has it") {
  Setup of_hours = setup();
  of_hours.tier = "hour";
  Step step = start(of_hours, {80, 24}, recorded(), {});
  const auto press = [&step](const char* key) { step = update(std::move(step.model), KeyPress{key}); };
  press(">");
  press("M");
  press("Y");
  CHECK(step.model.last_command ==
        "memoir top --at '2026-11-25 02:15:30' --limit 1000 --tier hour\n"
        "memoir trend machine --step 1m --from '2026-11-25 01:02:00' --to '2026-11-25 02:15:59' --tier hour\n"
        "memoir trend machine --by pressure --step 1m --from '2026-11-25 01:02:00' --to '2026-11-25 02:15:59' --tier "
        "hour\n"
        "memoir events --limit 5000 --from '2026-11-25 01:02:00' --to '2026-11-25 02:15:59'");
  press("T");
  CHECK(std::get<Seek>(step.requests.front()).tier == "hour");
}

TEST_CASE("B: the bar shows the selected row, and the machine again") {
  Played played;
  played.answer(Slot::bar, trend({}));
  played.answer(Slot::page, processes({11, 12}));
  played.press("j B");
  CHECK(played.words(Slot::bar)[1] == "12@120");
  CHECK(played.model.bar.columns.empty());
  played.press("B");
  CHECK(played.words(Slot::bar)[1] == "machine");
  played.press("5");
  played.answer(Slot::page, events({{kNow, "alert"}}));
  played.press("B");
  CHECK(played.model.message == "this row has no history of its own");
}

TEST_CASE("The mouse: a click in the bar goes to that time, a drag shows its range, rows and tabs are clickable") {
  Played played;
  played.answer(Slot::page, processes({11, 12, 13}));
  const std::size_t page = 9;
  played.press("Press@76,2 Release@76,2");
  CHECK(played.seek.at_ms == kNow - 3 * kMinute - 30'000 + kMinute - 1);  // the end of the column
  played.found(played.seek.at_ms);
  played.answer(Slot::page, processes({11, 12, 13}));
  played.press("Press@5," + std::to_string(page + 2));
  CHECK(place(played.model).selected == 1);
  played.press("WheelDown@5,12");
  CHECK(place(played.model).selected == 2);
  played.press("Press@5," + std::to_string(page + 3));
  CHECK(played.words()[1] == "13@130");  // a click on the selected row
  played.press("Press@1,8");
  CHECK(played.words().front() == "top");
  played.press("Press@18,8");
  CHECK(played.words().front() == "cgroups");
  played.press("Press@1,8 Press@40,2 Release@50,2");
  CHECK(played.model.bar.width_ms == 10'000);
  CHECK(played.model.bar.holds(played.seek.at_ms));
  played.press("WheelDown@40,2");
  CHECK(played.model.bar.width_ms == 20'000);
  for (const char* odd : {"Press@", "Press@a,b", "@1,2", "Press@1", "Press@999999999999999999999,1"}) {
    played.press(odd);
    CHECK(played.model.message.find("has no meaning here") != std::string::npos);
  }
}

TEST_CASE("C selects columns; the command of the page has them, and its rows keep their keys") {
  Played played;
  played.answer(Slot::page, processes({11, 12}));
  played.press("j C");
  played.type("pss,nothing");
  played.press("Enter");
  CHECK(played.model.prompt.problem.find("'nothing' is not one of") != std::string::npos);
  played.press("^U");
  played.type("command, pss");
  played.press("Enter");
  REQUIRE(played.model.head.size() == 1);
  CHECK(played.model.head.front().text.find("PID") == std::string::npos);
  played.press("y");
  CHECK(played.copied == "memoir top --at '2026-11-25 02:15:30' --limit 1000 --columns command,pss");
  played.press("Enter");
  CHECK(played.words()[1] == "12@120");
}

TEST_CASE("X saves the page in a format, and shows the file") {
  Played played;
  played.press("X j Enter");
  const AskFor& question = played.asked.at(Slot::save);
  CHECK(question.file == "memoir-top-2026-11-25-021530");
  CHECK(question.words.back() == "never");
  CHECK(*(std::ranges::find(question.words, "--format") + 1) == "markdown");
  played.send(Answered{Slot::save, question.id, nullptr, {}, "memoir-top.md"});
  CHECK(played.model.message == "saved as memoir-top.md");
  played.press("X k Enter");  // the last choice
  CHECK(played.words(Slot::save) == Words{"extract", "--from", "2026-11-25 01:02:00", "--to", "2026-11-25 02:15:59"});
  CHECK(played.asked.at(Slot::save).file == "memoir-extract-2026-11-25-021530");
}

TEST_CASE("q asks once more while a file is being saved; each saved file is reported") {
  Played played;
  played.press("X k Enter");
  const auto extract = played.asked.at(Slot::save).id;
  played.press("q");
  CHECK_FALSE(played.quits);
  CHECK(played.model.message == "a file is being saved; q quits without it");
  played.press("X Enter");
  played.send(Answered{Slot::save, extract, nullptr, {}, "memoir-extract.db"});
  CHECK(played.model.message == "saved as memoir-extract.db");
  played.press("q");
  CHECK_FALSE(played.quits);  // the page is still being saved
  played.press("q");
  CHECK(played.quits);
}

TEST_CASE("q asks once more while an extract is being saved, even if a page was saved since it began") {
  Played played;
  played.press("X k Enter");
  played.press("X Enter");
  played.send(Answered{Slot::save, played.asked.at(Slot::save).id, nullptr, {}, "memoir-top.txt"});
  played.press("q");
  CHECK_FALSE(played.quits);
}

TEST_CASE("A jump accepts the values of --at; + and - are relative to the cursor, a time of day is on the day shown") {
  const std::map<std::string, std::int64_t> times{{"+10m", kNow - 30 * kMinute},
                                                  {"-10m", kNow - 50 * kMinute},
                                                  {"01:00", kNow - 75 * kMinute - 30'000},
                                                  {"2026-11-24 12:00:05", kNow - 855 * kMinute - 25'000}};
  for (const auto& [text, at_ms] : times) {
    CAPTURE(text);
    Start from;
    from.at_ms = kNow - 40 * kMinute;
    Played played(from);
    played.found(kNow - 40 * kMinute);
    played.press("b");
    played.type(text);
    played.press("Enter");
    CHECK(played.seek.at_ms == at_ms);
    CHECK(played.model.prompt.ask == Ask::none);
  }
  Played played;
  played.press("b");
  played.type("soon");
  played.press("Enter");
  CHECK(played.model.prompt.ask == Ask::jump);
  CHECK_FALSE(played.model.prompt.problem.empty());
  played.press("Esc");
  CHECK(played.model.prompt.ask == Ask::none);
}

TEST_CASE("E goes to the last tick before the last kill, and selects its victim") {
  Played played;
  played.press("E");
  CHECK(played.words(Slot::events) == Words{"events", "--limit", "5000"});
  played.answer(Slot::events,
                events({{kNow - 90 * kMinute, "oom-victim"}, {kNow - 28'000, "oom-victim"}, {kNow - 5000, "alert"}}));
  CHECK(played.seek.at_ms == kNow - 28'001);
  played.found(kNow - 30'000);
  played.answer(Slot::page, processes({7, 32702}));
  CHECK(place(played.model).selected == 1);
  played.press("E");
  played.answer(Slot::events, events({{kNow - 90 * kMinute, "oom-victim"}, {kNow - 28'000, "oom-victim"}}));
  CHECK(played.seek.at_ms == kNow - 90 * kMinute - 1);
  played.found(kNow - 90 * kMinute - 10'000);
  CHECK(played.model.bar.holds(kNow - 90 * kMinute - 10'000));
  played.press("E");
  played.answer(Slot::events, events({{kNow - 90 * kMinute, "oom-victim"}}));
  CHECK(played.model.message == "no OOM kill before this time");
}

TEST_CASE("A column of the bar leads to its maximum, or to the tick before a kill") {
  Played played;
  std::vector<std::pair<std::int64_t, std::int64_t>> minutes;
  for (std::int64_t at = kNow - 60 * kMinute - 30'000; at < kNow; at += kMinute) minutes.emplace_back(at, 2000);
  played.answer(Slot::bar, trend(minutes));
  played.press("Left");
  CHECK(played.seek.at_ms == kNow - 30'000 - kMinute + 20'000);
  CHECK(played.model.at_ms == kNow - 30'000 - kMinute + 20'000);
  played.press("Left");
  CHECK(played.seek.at_ms == kNow - 30'000 - 2 * kMinute + 20'000);
  played.press("Right");
  played.found(played.seek.at_ms);
  played.answer(Slot::letters, events({{kNow - 30'000 - kMinute - 15'000, "oom-kill"}}));
  played.press("Left");
  CHECK(played.seek.at_ms == kNow - 30'000 - kMinute - 15'001);
}

TEST_CASE("d compares with the mark, or without one with the previous tick") {
  Played played;
  played.press("d");
  CHECK(played.words() == Words{"diff", "2026-11-25 02:15:20", "2026-11-25 02:15:30", "--limit", "1000"});
  played.press("Esc T");
  played.found(kNow - 10'000);
  played.press("m F d");
  CHECK(played.words()[1] == "2026-11-25 02:15:20");
  CHECK(played.words()[2] == "2026-11-25 02:15:30");
  played.press("Esc '");
  CHECK(played.seek.at_ms == kNow - 10'000);
  CHECK(played.model.mark_ms == kNow);
}

TEST_CASE("Enter opens a row, Esc goes back") {
  Played played;
  played.answer(Slot::page, processes({11, 12}));
  played.press("j Enter");
  CHECK(played.words() == Words{"process", "12@120", "--at", "2026-11-25 02:15:30"});
  CHECK(played.words(Slot::process)[1] == "12@120");
  played.press("Esc");
  CHECK(played.words().front() == "top");
  CHECK(place(played.model).selected == 1);
  played.press("5");
  played.answer(Slot::page, events({{kNow - 10 * kMinute, "alert"}}));
  played.press("Enter");
  CHECK(played.words() == Words{"incident", "--at", "2026-11-25 02:05:30"});
}

TEST_CASE("A wide screen also asks for the process of the selected row") {
  Played narrow({}, {139, 45});
  narrow.answer(Slot::page, processes({11, 12}));
  CHECK(narrow.words(Slot::side).empty());
  Played played({}, {140, 45});
  played.answer(Slot::page, processes({11, 12}));
  CHECK(played.words(Slot::side) == Words{"process", "11@110", "--at", "2026-11-25 02:15:30"});
  CHECK(played.asked.at(Slot::side).rests);
  Report process;
  process.facts = {{"identity", "Identity", Kind::text, Value("sh|sh -c true")}};
  played.answer(Slot::side, process);
  CHECK(played.words(Slot::lives)[2] == "identity=sh|sh -c true");
  played.press("j");
  CHECK(played.words(Slot::side)[1] == "12@120");
  CHECK(played.words(Slot::process)[1] == "12@120");
  const auto lives = played.asked.at(Slot::lives).id;
  played.answer(Slot::side, process);
  CHECK(played.asked.at(Slot::lives).id > lives);  // the lives of the same program are asked for again
  played.press("f j Enter");
  played.answer(Slot::page, Report());
  CHECK(played.model.asked.at(static_cast<std::size_t>(Slot::side)).words.empty());
}

TEST_CASE("The process beside the table is shown until all of the next one can replace it") {
  Played played({}, {160, 45});
  const auto page = [&played](const std::vector<std::int64_t>& pids) { played.answer(Slot::page, processes(pids)); };
  const auto side = [&played] {
    Report process;
    const std::string subject = played.words(Slot::side)[1];
    process.facts = {{"comm", "Name", Kind::text, Value(subject)}, {"pid", "", Kind::count, Value(11)}};
    played.answer(Slot::side, process);
  };
  const auto columns = [&played](std::int64_t max_kib) {
    played.answer(Slot::process, trend({{kNow - 90'000, max_kib}}));
  };
  const auto shown = [&played] { return draw(played.model).text(); };
  const auto max = [&played] { return played.model.bar.process.at(played.model.bar.count - 2).max; };
  page({11, 12});
  side();
  columns(1000);
  played.send(Ticked{recorded(kNow + 10'000)});
  page({12, 11});
  CHECK(shown().find("11@110 (11)") != std::string::npos);
  columns(2000);
  CHECK(max() == 1000.0);
  side();
  CHECK(shown().find("12@120 (11)") != std::string::npos);
  CHECK(max() == 2000.0);
  played.send(Ticked{recorded(kNow + 20'000)});
  page({11, 12});
  side();
  CHECK(shown().find("11@110 (11)") != std::string::npos);
  CHECK(played.model.bar.process.empty());
  columns(3000);
  CHECK(max() == 3000.0);
}

TEST_CASE("The lives of a program are asked again every 10 s while the bar shows the last tick") {
  Played played({}, {160, 45});
  played.answer(Slot::page, processes({11, 12}));
  Report process;
  process.facts = {{"identity", "Identity", Kind::text, Value("sh|sh -c true")}};
  played.answer(Slot::side, process);
  const auto ticked = [&played](std::int64_t ms) {
    const auto before = played.asked.at(Slot::lives).id;
    played.send(Ticked{recorded(kNow + ms)});
    return played.asked.at(Slot::lives).id > before;
  };
  CHECK(ticked(1000));
  CHECK_FALSE(ticked(2000));
  CHECK_FALSE(ticked(10'000));
  CHECK(ticked(11'000));
  played.press("Space {");
  played.found(played.seek.at_ms);
  CHECK_FALSE(ticked(29'000));  // the bar shows earlier times
}

TEST_CASE("The page of a process has its chart's place before the chart arrives, and shows events that come later") {
  Played played({}, {80, 24});
  played.answer(Slot::page, processes({32702}));
  played.press("Enter");
  Report process;
  process.facts = {{"comm", "Name", Kind::text, Value("python3")}, {"pid", "", Kind::count, Value(32702)}};
  process.sections.resize(1);
  played.answer(Slot::page, process);
  const auto lines = [&played] { return std::pair(played.model.head.size(), process_chart_lines(played.model)); };
  const auto before = lines();
  played.answer(Slot::process, trend({{kNow - 90'000, 1000}}));
  CHECK(lines() == before);
  CHECK(before.second == 3);
  played.answer(Slot::letters, events({{kNow - 90'000, "oom-victim"}}));
  CHECK(std::ranges::any_of(played.model.lines, [](const Line& line) { return line.text == "EVENTS"; }));
}

TEST_CASE("Any command gets the time of the view, unless it has its own") {
  Played played;
  const auto run = [&played](const std::string& text) {
    played.press(":");
    played.type(text);
    played.press("Enter");
    return played.words();
  };
  CHECK(run("mappings 812") == Words{"mappings", "812", "--at", "2026-11-25 02:15:30"});
  CHECK(run("memoir peaks") == Words{"peaks", "--from", "2026-11-25 01:02:00", "--to", "2026-11-25 02:15:59"});
  CHECK(run("top 'a b' --at yesterday") == Words{"top", "a b", "--at", "yesterday"});
  CHECK(run("leaks --last 7d") == Words{"leaks", "--last", "7d"});
  run("export");
  CHECK(played.model.prompt.problem == "memoir export runs in a shell only");
}

TEST_CASE("y copies the command of the page, with the file") {
  Start from;
  from.place.filters = {"user=shop"};
  Setup with_file = setup();
  with_file.shown = {"--db", "/tmp/a b.db"};
  Step step = start(with_file, {80, 24}, recorded(kNow + 5), from);
  step = update(std::move(step.model), KeyPress{"y"});
  CHECK(step.model.last_command ==
        "memoir top --at '2026-11-25 02:15:30.005' --filter user=shop --limit 1000 --db "
        "'/tmp/a b.db'");
}

TEST_CASE("The labels of the bar keep their unit") {
  constexpr std::size_t lines = 3;
  for (const double top_kib : {700.0, 90'000.0, 1.6 * 1024 * 1024, 24.0 * 1024 * 1024, 3.0 * 1024 * 1024 * 1024}) {
    CellGrid grid({80, lines});
    draw_chart_lines(grid, Setup{}, std::vector{BarColumn{top_kib, top_kib, {}}}, {0, lines, 0});
    for (std::size_t line = 0; line < lines; ++line) {
      CAPTURE(grid.text());
      CHECK(std::string("KMGT").find(grid.line(line)[4].utf8) != std::string::npos);
    }
  }
}

TEST_CASE("A label of the bar is not repeated where its lines are closer than its digits") {
  constexpr double gib = 1024.0 * 1024.0;
  CellGrid grid({80, 6});
  draw_chart_lines(grid, Setup{}, std::vector{BarColumn{110 * gib, 115.4 * gib, {}}}, {0, 6, 0});
  std::vector<std::string> labels;
  for (std::size_t line = 0; line < 6; ++line) {
    std::string label;
    for (std::size_t column = 0; column < 5; ++column) label += grid.line(line)[column].utf8;
    if (label.find_first_not_of(' ') != std::string::npos) labels.push_back(label);
  }
  CAPTURE(grid.text());
  CHECK(labels.size() > 1);
  CHECK(std::ranges::adjacent_find(labels) == labels.end());
}

}  // namespace view_update_test
