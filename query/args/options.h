#pragma once

// The options of memoir: what each is called and means (for the command line, --help, and the tests that hold the man
// page and the completions to it), and the values that one call has.

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
  by,
  group,
  filter,
  tier,
  kind,
  limit,
  step,
  all,
  explain,
  ownerless,
  last_oom,
  window,
  extract,
  csv,
  hour,
  config,
  write_missing,
  format,
  utc,
  no_color,
  no_pager,
  ascii,
  units,
  output,
  suffix,
  force,
  textfile,
  label,
};

// What other programs call the same, and letters: "--since" for "--from", "--json" for "--format=json".
struct Spelling {
  std::string_view written;
  std::string_view means;
};
const std::vector<Spelling>& spellings();
// Those of an option, as it is written in full.
std::vector<std::string_view> spellings_of(std::string_view name);

enum class Format { table, json, csv, jsonl, openmetrics, smaps_rollup, category_metrics, markdown, html };

// What --format may say, in the order of Format; a command lists those it has.
const std::vector<std::string>& format_names();
// Read by a program rather than by a person.
constexpr bool is_for_machines(Format format) {
  return format == Format::csv || format == Format::json;
}
enum class Units { kib, mib, gib, automatic };

// What --units may say, in the order of Units.
const std::vector<std::string>& unit_names();

// What the command line says. Times and expressions are still text: only a command knows what they mean to it.
struct Options {
  std::string db;
  std::optional<std::string> at;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> last;
  std::optional<std::string> day;
  std::optional<std::string> by;
  std::optional<std::string> group;
  std::vector<std::string> filters;
  std::optional<std::string> tier;
  std::vector<std::string> kinds;
  std::optional<std::int64_t> limit;  // 0: all
  std::optional<std::string> step;
  std::optional<std::string> hour;
  std::optional<std::string> config;
  std::vector<std::string> csv;
  bool all = false;
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
  bool force = false;
  bool no_color = false;
  bool no_pager = false;
  bool ascii = false;
  Units units = Units::automatic;
  // As they were given, for limit, format, units and zone.
  std::optional<std::string> limit_given;
  std::optional<std::string> format_given;
  std::optional<std::string> units_given;
  bool utc = false;
};

// Where the value of an option goes; of one that may be repeated a list; of one without a value that it was given.
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
