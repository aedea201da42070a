#pragma once

// The options of memoir: names and descriptions (for the command line, --help, and tests of the man page and the
// completions), and the values of one invocation.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "query/args/zone.h"

namespace memoir::query {

enum class Option : std::uint8_t {
  db,
  at,
  from,
  to,
  last,
  day,
  against,
  by,
  group,
  filter,
  tier,
  kind,
  limit,
  columns,
  step,
  all,
  exited,
  explain,
  ownerless,
  last_oom,
  window,
  extract,
  csv,
  limit_kib,
  hour,
  config,
  write_missing,
  week,
  if_notable,
  format,
  utc,
  color,
  no_pager,
  ascii,
  units,
  output,
  suffix,
  force,
  textfile,
  label,
  no_mouse,
  record_keys,
  play_keys,
};

// Aliases and letters known from other programs: "--since" for "--from", "--json" for "--format=json". If `fits` is
// set, the alias applies only to values for which fits() is true: "-s rss" is "--by rss", "-s 03:00" is "--from 03:00".
// The keys of filter_keys() are options too, but are not listed here: --KEY NAME is --filter KEY=NAME.
struct OptionAlias {
  std::string_view written;
  std::string_view means;
  bool (*fits)(std::string_view value) = nullptr;
};
const std::vector<OptionAlias>& option_aliases();
// Returns whether the word can be a value of --by, including the names of other programs: "rss", "%MEM".
bool is_metric(std::string_view word);
// Returns whether the word can be a value of --at.
bool is_time(std::string_view word);

// Returns the aliases that fit any value of an option. `name` is its full name.
std::vector<std::string_view> spellings_of(std::string_view name);

enum class Format { table, json, csv, jsonl, openmetrics, smaps_rollup, category_metrics, markdown, html };

// Values of --format, in the order of Format. Each command lists the formats that it supports.
const std::vector<std::string>& format_names();
// Returns whether programs, not humans, read the format.
constexpr bool is_data_format(Format format) {
  return format == Format::csv || format == Format::json;
}
enum class Color { automatic, always, never };

// Values of --color, in the order of Color.
const std::vector<std::string>& color_names();
enum class Units { kib, mib, gib, automatic };

// Values of --units, in the order of Units.
const std::vector<std::string>& unit_names();

// The values of the command line. Times and expressions are still text: their meaning depends on the command.
struct Options {
  std::string db;
  std::optional<std::string> at;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> last;
  std::optional<std::string> day;
  std::optional<std::string> against;
  std::optional<std::string> by;
  std::optional<std::string> group;
  std::vector<std::string> filters;
  std::optional<std::string> tier;
  std::vector<std::string> kinds;
  std::optional<std::int64_t> limit;  // 0: all
  std::vector<std::string> columns;   // --columns
  std::optional<std::string> step;
  std::optional<std::string> hour;
  std::optional<std::string> config;
  std::vector<std::string> csv;
  std::optional<double> series_limit;  // limit of the series in `csv`, in their unit
  bool all = false;
  bool week = false;
  bool if_notable = false;
  bool exited = false;
  bool explain = false;
  bool ownerless = false;
  bool last_oom = false;
  std::optional<std::string> window;
  std::optional<std::string> extract;
  std::optional<std::string> write_missing;
  std::vector<std::string> subjects;
  Format format = Format::table;
  Zone zone = Zone::local;
  std::optional<std::string> output;
  std::optional<std::string> suffix;
  std::optional<std::string> textfile;
  std::vector<std::string> labels;  // NAME=VALUE
  std::optional<std::string> record_keys;
  std::optional<std::string> play_keys;
  bool no_mouse = false;
  bool force = false;
  Color color = Color::automatic;
  bool no_pager = false;
  bool ascii = false;
  Units units = Units::automatic;
  // Option values as typed. They set limit, series_limit, columns, format, color, units and zone.
  std::optional<std::string> limit_given;
  std::optional<std::string> limit_kib_given;
  std::optional<std::string> columns_given;
  std::optional<std::string> format_given;
  std::optional<std::string> color_given;
  std::optional<std::string> units_given;
  bool utc = false;
};

// The member of Options that stores an option's value: a list if the option is repeatable, a bool if it has no value.
using OptionPlace = std::variant<std::string Options::*, std::optional<std::string> Options::*,
                                 std::vector<std::string> Options::*, bool Options::*>;

struct OptionText {
  Option option;
  std::string_view name;   // "--db"
  std::string_view value;  // "F"; empty for a flag
  OptionPlace place;
  std::string_view help;
};

const std::vector<OptionText>& option_texts();
const OptionText& option_text(Option option);

}  // namespace memoir::query
