#pragma once

// Pages as command lines: each page is the answer to one, and a row leads to another. Pure.

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

// "2026-11-25 02:15:30", with milliseconds if it has some; "@…" where that time occurred twice.
std::string time_word(std::int64_t ms, Zone zone);

const Command* find_command(const Model& model, std::string_view name);
// The command of the shown page; nullptr if `:` got none.
const Command* command_of(const Model& model);
bool takes(const Command& command, Option option);

// Which command answers each slot at this time; empty: none.
std::array<Words, kSlots> wanted(const Model& model);

// The command of the page as typed in a shell; and those of all that is shown, a line for each.
std::string shown_command(const Model& model);
std::string shown_commands(const Model& model);

// The page's answer in a format of --format, and the name of a file for it.
Words words_to_save(const Model& model, const std::string& format);
std::string file_to_save(const Model& model);

// What a row is about, the same at all times.
std::string row_key(const Report& report, std::size_t row);
std::optional<std::size_t> find_row(const Report& report, std::string_view key);
std::optional<std::size_t> find_pid(const Report& report, std::int64_t pid);

// Where Enter leads from the selected row: another page, maybe at another time. nullopt: nowhere.
struct Entered {
  Place place;
  std::optional<std::int64_t> at_ms;
};
std::optional<Entered> enter_row(const Model& model);

// What the bar shows for the selected row: the words of a `trend` command, and a name. nullopt if the row has no
// history.
struct BarSubject {
  Words words;
  std::string name;
};
std::optional<BarSubject> bar_subject(const Model& model);

// The tick before which `d` compares without a mark.
std::int64_t compared_with(const Model& model);

}  // namespace memoir::query::view
