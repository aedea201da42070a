#include "query/args/options.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/metric.h"
#include "query/args/meant.h"
#include "query/args/times.h"

namespace memoir::query {
namespace {

bool is_path(std::string_view value) {
  return value.find('/') != std::string_view::npos || value.ends_with(".db");
}

// Returns whether the value is a format, as in `-o json` of journalctl(1).
bool is_format(std::string_view value) {
  const std::string lower = to_lower(value);
  const std::string_view name = choice_meant(lower).value_or(lower);
  return std::ranges::find(format_names(), name) != format_names().end();
}

// Returns whether the value is a list of columns, as in `-o pid,rss` of ps(1).
bool is_list(std::string_view value) {
  return value.find(',') != std::string_view::npos && value.find_first_of("/.") == std::string_view::npos;
}

// Returns whether the value can be a pid, or PID@START; also true without a value.
bool may_be_pid(std::string_view value) {
  return value.find_first_not_of("0123456789@") == std::string_view::npos;
}

bool is_unit(std::string_view value) {
  constexpr std::array kinds{".service", ".scope", ".socket", ".timer", ".mount"};
  return std::ranges::any_of(kinds, [value](std::string_view kind) { return value.ends_with(kind); });
}

}  // namespace

bool is_metric(std::string_view word) {
  const std::string lower = to_lower(word);
  const std::string_view name = choice_meant(lower).value_or(lower);
  return name == "growth" || parse_metric(name).has_value();
}

bool is_time(std::string_view word) {
  constexpr std::int64_t any_ms = 1'795'166'412'000;  // any time: only the form of the text is checked
  return parse_time(word, any_ms, Zone::utc).ok();
}

const std::vector<OptionText>& option_texts() {
  static const std::vector<OptionText> texts{
      {Option::at, "--at", "T", &Options::at, "the state at one time: the last tick at or before T"},
      {Option::from, "--from", "T", &Options::from, "the start of a range (default: the first tick)"},
      {Option::to, "--to", "T", &Options::to, "the end of a range (default: the last tick); a future time means now"},
      {Option::last, "--last", "DURATION", &Options::last,
       "a range of this length up to --to (the last tick): 2h, 1h30m, 7d, 1w"},
      {Option::day, "--day", "D", &Options::day, "a whole local day: yesterday, monday, 2026-11-20"},
      {Option::against, "--against", "T", &Options::against,
       "compare with the same range this much earlier (-7d), or on another day (yesterday, monday, 2026-11-20)"},
      {Option::by, "--by", "METRIC", &Options::by, "ranking of the rows"},
      {Option::group, "--group", "G", &Options::group, "grouping of the rows"},
      {Option::filter, "--filter", "EXPR", &Options::filters,
       "only category=web, user=www-data, unit=nginx.service, pid=812, comm=nginx, slice=…, identity=…, container=…, "
       "exe~REGEX, command~REGEX, cgroup=/system.slice (and its descendants); != and !~ exclude; rss>100M, swap>0 "
       "(over "
       "a range the maximum); repeatable, all must match"},
      {Option::tier, "--tier", "TIER", &Options::tier,
       "history to answer from: raw (ticks), or rollups: 5min, hour, day (default: the finest that covers the time and "
       "answers quickly)"},
      {Option::kind, "--kind", "KIND", &Options::kinds, "only events of that kind; repeatable"},
      {Option::limit, "--limit", "N", &Options::limit_given,
       "at most N rows (default: what fits the terminal, 20 in a pipe, all in CSV and JSON; 0: all); omitted rows are "
       "counted"},
      {Option::columns, "--columns", "LIST", &Options::columns_given,
       "only these columns of the rows, in this order: pid,pss,command; names as in JSON, or headings"},
      {Option::step, "--step", "S", &Options::step, "width of a bucket: 5m, 1h"},
      {Option::all, "--all", "", &Options::all,
       "leaks: other verdicts too, each with the reason; summary: all figures, even if nothing needs attention; "
       "extract: the whole file"},
      {Option::exited, "--exited", "", &Options::exited,
       "exited processes with status and peak, unsampled ones included"},
      {Option::explain, "--explain", "", &Options::explain,
       "evidence for a verdict: the chart, the floors, each gate, and what would change it"},
      {Option::ownerless, "--ownerless", "", &Options::ownerless,
       "memory without a process: deleted files, memfds, unattached segments, files in tmpfs"},
      {Option::last_oom, "--last-oom", "", &Options::last_oom, "the time of the last OOM kill"},
      {Option::window, "--window", "DURATION", &Options::window,
       "length of the periods compared before and after the time (10m)"},
      {Option::extract, "--extract", "F", &Options::extract, "also write the data around the time to a separate file"},
      {Option::csv, "--csv", "FILE", &Options::csv,
       "judge the series in a CSV file instead of those in the database; repeatable: one row for each file"},
      {Option::limit_kib, "--limit-kib", "N", &Options::limit_kib_given,
       "with --csv: the limit of the series in the file's unit, for the time until it is reached (as a size: --limit "
       "8GiB)"},
      {Option::config, "--config", "F", &Options::config, "configuration file with the table [leaks]"},
      {Option::hour, "--hour", "DURATION", &Options::hour,
       "length of an hour in the analysis (1h); every window is a multiple of it"},
      {Option::output, "--output", "F", &Options::output, "the file to write"},
      {Option::suffix, "--suffix", "S", &Options::suffix,
       "added to the name of the file, before its extension, and to the names of category-metrics"},
      {Option::force, "--force", "", &Options::force, "replace an existing file"},
      {Option::textfile, "--textfile", "F", &Options::textfile,
       "replace F with the current values, for node_exporter's textfile collector"},
      {Option::no_mouse, "--no-mouse", "", &Options::no_mouse, "leave the mouse to the terminal: it selects text"},
      {Option::record_keys, "--record-keys", "F", &Options::record_keys, "write the pressed keys to F, one per line"},
      {Option::play_keys, "--play-keys", "F", &Options::play_keys,
       "without a terminal: press the keys of F, and print the screen after each line"},
      {Option::label, "--label", "NAME=VALUE", &Options::labels, "a label for all series; repeatable"},
      {Option::write_missing, "--write-missing", "DIR", &Options::write_missing,
       "write a summary of each recorded day that is missing in DIR, as HTML and text; keep 400 days"},
      {Option::week, "--week", "", &Options::week, "the seven days up to --day instead of one day"},
      {Option::if_notable, "--if-notable", "", &Options::if_notable,
       "no output and exit status 3 if nothing needs attention"},
      {Option::db, "--db", "F", &Options::db,
       "the database (default: $MEMOIR_DB, /var/lib/memoir/memoir.db, the XDG data path)"},
      {Option::format, "--format", "FORMAT", &Options::format_given, "format of the answer (short: --json, --csv)"},
      {Option::units, "--units", "UNITS", &Options::units_given, "sizes in a table: kib, mib, gib or auto"},
      {Option::utc, "--utc", "", &Options::utc, "read and show times in UTC"},
      {Option::ascii, "--ascii", "", &Options::ascii, "charts, sparklines and trees in ASCII"},
      {Option::color, "--color", "WHEN", &Options::color_given,
       "colour: auto (on a terminal, unless $NO_COLOR is set), always or never"},
      {Option::no_pager, "--no-pager", "", &Options::no_pager, "no pager for a long answer on a terminal"},
  };
  return texts;
}

const std::vector<OptionAlias>& option_aliases() {
  static const std::vector<OptionAlias> all{{"--since", "--from"},
                                            {"--start", "--from"},
                                            {"-S", "--from", is_time},
                                            {"-b", "--from", is_time},
                                            {"-s", "--by", is_metric},
                                            {"-s", "--from", is_time},
                                            {"--until", "--to"},
                                            {"--end", "--to"},
                                            {"-U", "--to", is_time},
                                            {"-e", "--to", is_time},
                                            {"-n", "--limit"},
                                            {"--sort", "--by"},
                                            {"-u", "--unit", is_unit},
                                            {"-u", "--user"},
                                            {"-p", "--pid", may_be_pid},
                                            {"-C", "--comm"},
                                            {"-o", "--format", is_format},
                                            {"-o", "--columns", is_list},
                                            {"-o", "--output"},
                                            {"-r", "--db", is_path},
                                            {"-f", "--db", is_path},
                                            {"-V", "--version"},
                                            {"-h", "--help"},
                                            {"--json", "--format=json"},
                                            {"--csv", "--format=csv"},
                                            {"--no-color", "--color=never"}};
  return all;
}

std::vector<std::string_view> spellings_of(std::string_view name) {
  std::vector<std::string_view> written;
  for (const OptionAlias& spelling : option_aliases()) {
    if (spelling.means == name && spelling.fits == nullptr) written.push_back(spelling.written);
  }
  return written;
}

const std::vector<std::string>& color_names() {
  static const std::vector<std::string> names{"auto", "always", "never"};
  return names;
}

const std::vector<std::string>& unit_names() {
  static const std::vector<std::string> names{"kib", "mib", "gib", "auto"};
  return names;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names{
      "table", "json", "csv", "jsonl", "openmetrics", "smaps-rollup", "category-metrics", "markdown", "html"};
  return names;
}

const OptionText& option_text(Option option) {
  return *std::ranges::find(option_texts(), option, &OptionText::option);
}

}  // namespace memoir::query
