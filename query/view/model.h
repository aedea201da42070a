#pragma once

// The state of the view. update() changes it and draw() draws it; neither does any I/O.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "query/args/options.h"
#include "query/history/recording.h"
#include "query/report/report.h"
#include "query/state/command.h"
#include "query/view/time_bar.h"

namespace memoir::query::view {

// A command line without the program's name.
using Words = std::vector<std::string>;

// Each slot has its own question and answer, independent of the others.
enum class Slot : std::uint8_t { page, machine, bar, pressure, letters, events, process, side, lives, save, count_ };
inline constexpr auto kSlots = static_cast<std::size_t>(Slot::count_);

enum class Page : std::uint8_t { processes, cgroups, tree, memory, events, incident, compare, process, command };
inline constexpr std::size_t kTabs = 6;  // the first pages

// A line of a page. Lines with the same row are parts of it.
struct Line {
  std::string text;
  Tone tone = Tone::plain;
  std::optional<std::size_t> row = {};  // index into Report::rows
};

// A page and the position in it.
struct Place {
  Page page = Page::processes;
  std::optional<std::string> by = {};
  std::string group = {};  // empty: each process
  std::vector<std::string> filters = {};
  std::vector<std::string> columns = {};  // empty: those of the command
  Words command = {};                     // the command that Page::command shows
  std::string subject = {};               // the process that Page::process shows: PID@START
  std::string name = {};                  // name of that process, for humans
  std::string key = {};                   // key of the selected row
  std::optional<std::int64_t> pid = {};   // selects the row of this process, once
  std::size_t selected = 0;               // selected row; the first shown line on a page without rows
  std::size_t top = 0;                    // the first shown line
};

struct Answer {
  Words words;  // the command of the report
  std::shared_ptr<const Report> report;
  std::string error;  // instead of a report
};

struct Question {
  std::uint64_t id = 0;
  Words words;  // empty: nothing is asked
  bool pending = false;
};

// State of the recording.
struct RecordingInfo {
  std::string host;
  Recording state = Recording::never;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::int64_t ticks = 0;
  std::int64_t interval_ms = 10'000;
  std::int64_t now_ms = 0;
  int file = 0;  // another number: of another file
};

enum class Ask : std::uint8_t { none, jump, filter, user, columns, command, search };

struct Prompt {
  Ask ask = Ask::none;
  std::string text;
  std::string problem;  // why the last attempt failed
};

enum class Choice : std::uint8_t { by, group, format };

struct Menu {
  Choice of = Choice::by;
  std::string title;
  std::vector<std::string> choices;
  std::size_t selected = 0;
};

struct Setup {
  Zone zone = Zone::local;
  Units units = Units::automatic;
  bool ascii = false;
  bool color = true;
  bool mouse = true;                // the terminal reports it
  Words common;                     // options that all commands get: --utc, --units
  std::optional<std::string> tier;  // for commands that have --tier
  Words shown;                      // options that only printed commands need: --db
  const std::vector<Command>* commands = nullptr;
};

// A search for the next or previous event; waits for the answer with all events.
struct EventSearch {
  int direction = 1;
  bool kills = false;
};

struct Model {
  Setup setup;
  Screen screen;
  RecordingInfo recorded;
  std::int64_t at_ms = 0;  // the cursor
  bool following = true;   // the cursor moves with the last tick
  std::optional<std::int64_t> mark_ms;
  std::int64_t seen_ticks = 0;  // number of ticks when following stopped
  TimeBar bar;
  Words bar_subject;  // arguments of `trend`; empty: the machine
  std::string bar_name;
  std::string subject;               // the process whose columns, side and lives are shown: PID@START
  std::int64_t lives_ms = 0;         // last tick when its lives were last asked
  std::vector<Place> path{Place{}};  // the last one is shown
  std::array<Place, kTabs> tabs{};   // each tab as it was left
  std::array<Answer, kSlots> answers;
  std::array<Question, kSlots> asked;
  std::uint64_t ids = 0;
  std::uint64_t seek = 0;  // id of the last seek
  bool seeking = false;
  int steps = 0;                         // requested during the seek
  std::optional<std::int64_t> event_ms;  // the cursor is at this event
  std::vector<Line> head;                // header of the page
  std::vector<Line> lines;               // lines of the page below its header
  std::optional<EventSearch> event_search;
  std::optional<std::size_t> pressed;  // the column of the bar in which the mouse was pressed
  bool enters = false;                 // Enter was pressed before the page had its answer
  Prompt prompt;
  std::optional<Menu> menu;
  bool help = false;
  bool whole_row = false;         // the selected row is shown with all its values
  std::string message;            // shown until the next key
  std::string last_command;       // copied last; printed at the end
  bool ended = false;             // the file cannot be read any more
  std::set<std::uint64_t> saves;  // ids of the questions whose files are being saved
  bool quits = false;             // quit was pressed since the last of them began
};

inline const Place& place(const Model& model) {
  return model.path.back();
}
inline Place& place(Model& model) {
  return model.path.back();
}
inline const Answer& answer_of(const Model& model, Slot slot) {
  return model.answers[static_cast<std::size_t>(slot)];
}
// Returns whether the shown page is not yet that of the cursor's time.
inline bool waits_for_page(const Model& model) {
  return model.seeking || model.asked[static_cast<std::size_t>(Slot::page)].pending;
}

}  // namespace memoir::query::view
