#pragma once

// The key table: the one list of keys, for dispatch, for help and for the last line of the screen.
//
// Keys are named as they are written in help: "t", "Left", "PgUp", "^F", "F5", "Enter", "Space".

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::query::view {

enum class Action : std::uint8_t {
  next_tick,
  previous_tick,
  next_column,
  previous_column,
  next_ten,
  previous_ten,
  next_bar,
  previous_bar,
  jump,
  next_event,
  previous_event,
  next_kill,
  previous_kill,
  pause,
  live,
  begin,
  zoom_in,
  zoom_out,
  zoom_first,
  mark,
  swap,
  compare,
  up,
  down,
  page_up,
  page_down,
  half_up,
  half_down,
  first,
  last,
  processes,
  cgroups,
  tree,
  memory,
  events,
  incident,
  next_page,
  enter,
  back,
  filter,
  no_filter,
  user,
  group,
  sort,
  sort_next,
  sort_previous,
  by_memory,
  columns,
  whole_row,
  row_bar,
  copy,
  copy_all,
  save,
  command,
  help,
  redraw,
  suspend,
  quit,
};

enum class KeySection : std::uint8_t { time, pages, rows, answers };

struct KeyRow {
  KeySection section = KeySection::time;
  std::string_view shown;  // keys as shown in help
  std::string_view help;
  std::string_view keys;        // "t n:previous_tick": the names of the keys, separated by spaces
  std::vector<Action> actions;  // one action for each key
};

const std::vector<KeyRow>& key_table();

// Returns the action of a key; nullopt if it has none.
std::optional<Action> action_of(std::string_view key);

// Returns the message for a key without an action. It names the key that does here what this key does in other
// programs, or the key that lists all keys.
std::string hint_for(std::string_view key);

}  // namespace memoir::query::view
