#pragma once

// Moves of the cursor in time, for update(). Pure.

#include <cstdint>
#include <vector>

#include "query/view/keys.h"
#include "query/view/update.h"

namespace memoir::query::view {

// Moves the cursor to the tick at or before `at_ms`, and from there by `steps` ticks. With `after_ms` the cursor moves
// to a tick later than that.
void seek(Step& step, std::int64_t at_ms, int steps, std::optional<std::int64_t> after_ms = {});
void stop_following(Model& model);
void follow(Step& step);

// Moves the cursor into a column of the bar.
void go_to_column(Step& step, std::size_t column);
void show_columns(Step& step, std::size_t first, std::size_t last);

// Fits the bar to the size of the screen, with the cursor in the middle.
void fit_bar(Model& model);

// Continues the search for an event once the answer with all events is available.
void finish_event_search(Step& step);

// Moves the cursor or the bar if the action is a move in time. Returns whether it was.
bool move_in_time(Step& step, Action action);

}  // namespace memoir::query::view
