#pragma once

// Moves of the cursor in time, for update(). Pure.

#include <cstdint>
#include <vector>

#include "query/view/keys.h"
#include "query/view/update.h"

namespace memoir::query::view {

// Moves the cursor to the tick at or before a time, and from there by `steps` ticks. `after_ms`: to a later tick than
// this.
void seek(Step& step, std::int64_t at_ms, int steps, std::optional<std::int64_t> after_ms = {});
void stop_following(Model& model);
void follow(Step& step);

// Moves the cursor into a column of the bar; or shows some columns in all of the bar.
void go_to_column(Step& step, std::size_t column);
void show_columns(Step& step, std::size_t first, std::size_t last);

// Sets the bar for a screen, around the cursor.
void fit_bar(Model& model);

// Continues the search for an event once the answer with all events is available.
void finish_event_search(Step& step);

// Returns whether the action is a move in time, and carries it out.
bool move_in_time(Step& step, Action action);

}  // namespace memoir::query::view
