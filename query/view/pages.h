#pragma once

// Pages as command lines: each page shows the answer to one command, and a row leads to another page. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/view/model.h"

namespace memoir::query::view {

std::string_view tab_name(Page page);
std::string_view short_tab_name(Page page);

// A time as an argument: "2026-11-25 02:15:30", with milliseconds if it has some; "@…" if that local time occurred
// twice.
std::string time_word(std::int64_t ms, Zone zone);

const Command* find_command(const Model& model, std::string_view name);
// Returns the command of the shown page; nullptr if it has no valid one.
const Command* command_of(const Model& model);
bool takes(const Command& command, Option option);

// Returns the command that each slot needs now; empty if it needs none.
std::array<Words, kSlots> wanted(const Model& model);

// Returns the process that is shown, as PID@START: of the page, or of the selected row on a wide screen. Empty if none.
std::string process_subject(const Model& model);
// The answer about that process.
const Answer& process_answer(const Model& model);

// Returns whether the process of the selected row is shown right of the table, and how many columns the page has.
bool has_side(const Model& model);
std::size_t page_columns(const Model& model);

// Return the commands that give the same answers in a shell: that of the page, and those of all parts of the screen,
// one per line.
std::string shown_command(const Model& model);
std::string shown_commands(const Model& model);

// Return the command that saves the page in a format of --format, or an extract of the bar's span, and the name of the
// file.
inline constexpr std::string_view kExtract = "extract";
Words words_to_save(const Model& model, const std::string& format);
std::string file_to_save(const Model& model, const std::string& format);

// Identifies the subject of a row, in the same way at all times.
std::string row_key(const Report& report, std::size_t row);
std::optional<std::size_t> find_row(const Report& report, std::string_view key);
std::optional<std::size_t> find_pid(const Report& report, std::int64_t pid);

// The page to which Enter leads from the selected row, and its time if that is another. nullopt if Enter leads nowhere.
struct Entered {
  Place place;
  std::optional<std::int64_t> at_ms;
};
std::optional<Entered> enter_row(const Model& model);

// The history that the bar shows for the selected row: the words of a `trend` command, and a name. nullopt if the row
// has no history.
struct BarSubject {
  Words words;
  std::string name;
};
std::optional<BarSubject> bar_subject(const Model& model);

// Returns the mark, or without one the time of the tick that `d` compares with.
std::int64_t compared_with(const Model& model);

}  // namespace memoir::query::view
