#pragma once

// The bar: the machine's memory over time in columns of equal width, aligned to the clock, with letters of events
// below. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/args/options.h"
#include "query/args/zone.h"
#include "query/report/report.h"

namespace memoir::query::view {

struct BarColumn {
  std::optional<double> mean;
  std::optional<double> max;
  std::optional<std::int64_t> max_at_ms;
};

// An event of the recording, as a letter below the bar.
struct Letter {
  char letter = '!';
  std::int64_t at_ms = 0;
  std::string text;
  bool counts = false;  // the kernel's count of the kills between two ticks
};

struct TimeBar {
  std::int64_t width_ms = 60'000;  // time that a column covers
  std::int64_t from_ms = 0;        // start of the first column
  std::size_t count = 0;           // number of columns
  std::int64_t open_ms = 0;        // start of the first column that may still change
  std::vector<BarColumn> columns;  // memory in use; empty: no answer yet
  std::vector<BarColumn> pressure;
  std::vector<BarColumn> process;  // columns of the process that is shown
  std::int64_t process_open_ms = 0;
  std::vector<Letter> letters;  // in time order

  std::int64_t until_ms() const { return from_ms + width_ms * static_cast<std::int64_t>(count); }
  bool holds(std::int64_t ms) const { return ms >= from_ms && ms < until_ms(); }
  std::size_t column_of(std::int64_t ms) const { return static_cast<std::size_t>((ms - from_ms) / width_ms); }
  std::int64_t begin_of(std::size_t column) const { return from_ms + width_ms * static_cast<std::int64_t>(column); }
};

// Returns the start of the column that contains `ms`.
std::int64_t column_start(std::int64_t ms, std::int64_t width_ms, Zone zone);

// Return the narrowest width of at least `min_ms`, and the next width in a direction (nullopt if there is none).
std::int64_t bar_width(std::int64_t min_ms);
std::optional<std::int64_t> next_width(std::int64_t width_ms, int direction, std::int64_t min_ms);

// Moves the bar so that it shows `at_ms`, and as much as possible before `last_ms`.
void show_time(TimeBar& bar, std::int64_t at_ms, std::int64_t last_ms, Zone zone);
// Clears all columns, or those of the process, so that their values are asked for again.
void clear_columns(TimeBar& bar);
void clear_process(TimeBar& bar);
// Closes the columns before a time.
void complete_before(TimeBar& bar, std::int64_t ms);
// Moves the bar so that `at_ms` is in its middle, as far as `last_ms` permits.
void center_on(TimeBar& bar, std::int64_t at_ms, std::int64_t last_ms, Zone zone);

// Puts the values of a `memoir trend` answer, which starts at `open_ms`, into columns of the bar.
void update_columns(const TimeBar& bar, const Report& trend, std::int64_t open_ms, std::vector<BarColumn>& columns);
// Returns the events of a `memoir events` answer as letters.
std::vector<Letter> letters_of(const Report& events);
// Replaces the letters in the open columns of the bar.
void update_letters(TimeBar& bar, const Report& events);

// Returns the victims of kills. Counts of kills are included only where no victim is known.
std::vector<Letter> kills_of(const std::vector<Letter>& letters, std::int64_t interval_ms);

// Returns the most severe letter of each column, ' ' if it has none. Once answered, a column without values is '.'.
std::string letters_by_column(const TimeBar& bar);
bool is_kill(const Letter& letter);
// Shortens the text of a kill to one line: the victim and its limit come first, and cgroups are reduced to their last
// part.
std::string short_kill(std::string_view text);
// "02:15:32 K python3 (32702) in shop.service", as stored: not yet printable.
std::string letter_text(const Letter& letter, Zone zone);

// The times below the bar: the column and the text of each. They do not overlap.
struct AxisTime {
  std::size_t column = 0;
  std::string text;
};
std::vector<AxisTime> axis_times(const TimeBar& bar, Zone zone);

}  // namespace memoir::query::view
