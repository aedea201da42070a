#include "query/view/keys.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"

namespace memoir::query::view {

const std::vector<KeyRow>& key_table() {
  using A = Action;
  constexpr auto time = KeySection::time;
  constexpr auto rows = KeySection::rows;
  constexpr auto pages = KeySection::pages;
  constexpr auto answers = KeySection::answers;
  static const std::vector<KeyRow> table{
      {time, "t T", "next, previous tick", "t T", {A::next_tick, A::previous_tick}},
      {time,
       "← → h l",
       "a column of the bar",
       "Left Right h l",
       {A::previous_column, A::next_column, A::previous_column, A::next_column}},
      {time,
       "] [  } {",
       "ten columns, a whole bar",
       "] [ } {",
       {A::next_ten, A::previous_ten, A::next_bar, A::previous_bar}},
      {time, "b J", "jump: 03:14, -10m, monday", "b J", {A::jump, A::jump}},
      {time, "n N", "next, previous event", "n N", {A::next_event, A::previous_event}},
      {time, "e E", "next, previous OOM kill", "e E", {A::next_kill, A::previous_kill}},
      {time, "Space z", "pause, continue", "Space z", {A::pause, A::pause}},
      {time, "F Z  r", "live at the end, start", "F Z r", {A::live, A::live, A::begin}},
      {time, "+ -  0", "zoom, first zoom", "+ = - 0", {A::zoom_in, A::zoom_in, A::zoom_out, A::zoom_first}},
      {time, "m '  d", "mark, swap, compare", "m ' d", {A::mark, A::swap, A::compare}},
      {pages,
       "1-6 Tab",
       "pages",
       "1 2 3 4 5 6 Tab p c F5 V",
       {A::processes, A::cgroups, A::tree, A::memory, A::events, A::incident, A::next_page, A::processes, A::cgroups,
        A::tree, A::tree}},
      {pages, "Enter", "what is in the row", "Enter", {A::enter}},
      {pages, "Esc", "back", "Esc Backspace", {A::back, A::back}},
      {rows, "j k ↓ ↑", "rows", "Down Up j k", {A::down, A::up, A::down, A::up}},
      {rows,
       "PgDn PgUp",
       "a page; ^D ^U half",
       "PgDn PgUp ^F ^B ^D ^U",
       {A::page_down, A::page_up, A::page_down, A::page_up, A::half_down, A::half_up}},
      {rows, "g G", "first, last row", "g G Home End", {A::first, A::last, A::first, A::last}},
      {rows, "/ F4  \\", "filter, without filter", "/ F3 F4 \\", {A::filter, A::filter, A::filter, A::no_filter}},
      {rows, "u  f", "user, group", "u f", {A::user, A::group}},
      {rows,
       "s F6 M < >",
       "sort, memory; previous, next",
       "s F6 M < >",
       {A::sort, A::sort, A::by_memory, A::sort_previous, A::sort_next}},
      {rows,
       "C F2  w  B",
       "columns, whole row, its bar",
       "C F2 w B",
       {A::columns, A::columns, A::whole_row, A::row_bar}},
      {answers, "y Y", "copy the page's command, all", "y Y", {A::copy, A::copy_all}},
      {answers, "X", "save: HTML, JSON, extract", "X", {A::save}},
      {answers, ":", "any command, at this time", ":", {A::command}},
      {answers, "Mouse", "bar, rows, headings, tabs", "", {}},
      {answers, "? F1", "this help", "? F1", {A::help, A::help}},
      {answers,
       "^L ^Z  q",
       "redraw, suspend, quit",
       "^L ^Z q F10 ^C",
       {A::redraw, A::suspend, A::quit, A::quit, A::quit}},
  };
  return table;
}

std::optional<Action> action_of(std::string_view key) {
  if (key.empty()) return std::nullopt;
  for (const KeyRow& row : key_table()) {
    std::string_view names = row.keys;
    for (const Action action : row.actions) {
      if (cut_word(names) == key) return action;
    }
  }
  return std::nullopt;
}

std::string hint_for(std::string_view key) {
  struct Hint {
    std::string_view key;
    std::string_view text;
  };
  // Keys of htop, atop, below and less that have no action here.
  static constexpr std::array hints{Hint{"F9", "memoir only reads: it kills nothing"},
                                    Hint{"K", "memoir only reads: it kills nothing"},
                                    Hint{"F7", "memoir only reads: it changes no priority"},
                                    Hint{"F8", "memoir only reads: it changes no priority"},
                                    Hint{"P", "1 shows processes, s sorts them"},
                                    Hint{"S", "s sorts, < and > change the order"},
                                    Hint{"R", "s sorts, < and > change the order"},
                                    Hint{"I", "s sorts; the highest value is always first"},
                                    Hint{"A", "f groups processes"},
                                    Hint{"a", "f groups processes, F goes to the end"},
                                    Hint{"D", "d compares with the mark"},
                                    Hint{"L", "l moves a column later, ^L redraws the screen"},
                                    Hint{"Q", "q quits"},
                                    Hint{"U", "u asks for a user"},
                                    Hint{"W", "w shows the whole row"},
                                    Hint{"v", "w shows the whole row"},
                                    Hint{"o", "Enter opens the row"},
                                    Hint{"x", "X saves the page"},
                                    Hint{"i", "6 shows the incident"},
                                    Hint{"Del", "\\ removes the filter"},
                                    Hint{"Backtab", "Tab shows the next page, 1 to 6 show each page"},
                                    Hint{"7", "1 to 6 are the pages"},
                                    Hint{"8", "1 to 6 are the pages"},
                                    Hint{"9", "1 to 6 are the pages"},
                                    Hint{"H", "threads are not recorded one by one"}};
  const auto* const hint = std::ranges::find(hints, key, &Hint::key);
  if (hint != hints.end()) return std::string(hint->text);
  return fmt::format("{} has no meaning here; ? lists the keys", to_printable(key));
}

}  // namespace memoir::query::view
