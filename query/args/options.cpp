#include "query/args/options.h"

#include <algorithm>

namespace memoir::query {

const std::vector<OptionText>& option_texts() {
  static const std::vector<OptionText> texts{
      {Option::at, "--at", "T", &Options::at, "the state at one time: the last tick at or before T"},
      {Option::from, "--from", "T", &Options::from, "a range from T"},
      {Option::to, "--to", "T", &Options::to, "… to T (default: the last tick); what is still to come means now"},
      {Option::last, "--last", "DURATION", &Options::last,
       "a range that ends at --to (the last tick) and is this long: 2h, 1h30m, 7d, 1w"},
      {Option::day, "--day", "D", &Options::day, "a whole local day: yesterday, monday, 2026-11-20"},
      {Option::by, "--by", "METRIC", &Options::by, "what rows are ranked by"},
      {Option::group, "--group", "G", &Options::group, "what a row is"},
      {Option::filter, "--filter", "EXPR", &Options::filters,
       "only category=web, user=www-data, unit=nginx.service, pid=812, comm=nginx, slice=…, identity=…, container=…, "
       "exe~REGEX, command~REGEX, cgroup=/system.slice (and below it); != and !~ for the others; rss>100M, swap>0: "
       "what "
       "it held, over a range the most that it held in it; repeated: and"},
      {Option::tier, "--tier", "TIER", &Options::tier,
       "what of the history to answer from: raw (ticks), or rollups of 5min, an hour, a day (default: the finest that "
       "covers the time asked for and answers quickly)"},
      {Option::kind, "--kind", "KIND", &Options::kinds, "only events of that kind; repeated: or"},
      {Option::limit, "--limit", "N", &Options::limit_given,
       "at most N rows (default: what fits the terminal, 20 in a pipe, all in CSV and JSON; 0 = all); what is cut is "
       "said, with its sum"},
      {Option::step, "--step", "S", &Options::step, "the width of a bucket: 5m, 1h"},
      {Option::all, "--all", "", &Options::all, "what is no leak too, with the reason why it was let go"},
      {Option::explain, "--explain", "", &Options::explain,
       "how a verdict came about: the chart, the floors, each gate, what would change it"},
      {Option::ownerless, "--ownerless", "", &Options::ownerless,
       "memory that no process has as its own: deleted files, memfds, segments left behind, files in tmpfs"},
      {Option::last_oom, "--last-oom", "", &Options::last_oom, "at the last OOM kill"},
      {Option::window, "--window", "DURATION", &Options::window, "how long before and after that is compared (10m)"},
      {Option::extract, "--extract", "F", &Options::extract,
       "write what was recorded around it to a file of its own, too"},
      {Option::csv, "--csv", "FILE", &Options::csv,
       "judge the series of a CSV file instead of the database's; repeated: one row each"},
      {Option::config, "--config", "F", &Options::config, "configuration file, of which the table [leaks] is read"},
      {Option::hour, "--hour", "DURATION", &Options::hour,
       "what the analysis takes for an hour (1h); every window is a multiple of it"},
      {Option::output, "--output", "F", &Options::output, "the file to write"},
      {Option::suffix, "--suffix", "S", &Options::suffix, "put S into the name of that file, before its extension"},
      {Option::force, "--force", "", &Options::force, "replace the file to write, if it is there"},
      {Option::textfile, "--textfile", "F", &Options::textfile,
       "write what goes on now to F, for node_exporter's textfile collector; F is replaced as a whole"},
      {Option::label, "--label", "NAME=VALUE", &Options::labels, "a label that all series have; repeated: more"},
      {Option::write_missing, "--write-missing", "DIR", &Options::write_missing,
       "write the days that are recorded and not yet in DIR, as HTML and text, and keep 400 of them"},
      {Option::db, "--db", "F", &Options::db,
       "the database (default: $MEMOIR_DB, /var/lib/memoir/memoir.db, the XDG data path)"},
      {Option::format, "--format", "FORMAT", &Options::format_given,
       "how the answer is written (--json, --csv: for short)"},
      {Option::units, "--units", "UNITS", &Options::units_given, "sizes in a table: kib, mib, gib or auto"},
      {Option::utc, "--utc", "", &Options::utc, "times are UTC, those given and those shown"},
      {Option::ascii, "--ascii", "", &Options::ascii, "draw charts, sparklines and trees with ASCII characters only"},
      {Option::no_color, "--no-color", "", &Options::no_color, "no colour, even on a terminal (so does $NO_COLOR)"},
      {Option::no_pager, "--no-pager", "", &Options::no_pager,
       "a long answer on a terminal does not go through a pager"},
  };
  return texts;
}

const std::vector<Spelling>& spellings() {
  static const std::vector<Spelling> all{{"--since", "--from"}, {"--until", "--to"},         {"-n", "--limit"},
                                         {"--sort", "--by"},    {"-o", "--output"},          {"-V", "--version"},
                                         {"-h", "--help"},      {"--json", "--format=json"}, {"--csv", "--format=csv"}};
  return all;
}

std::vector<std::string_view> spellings_of(std::string_view name) {
  std::vector<std::string_view> written;
  for (const Spelling& spelling : spellings()) {
    if (spelling.means == name) written.push_back(spelling.written);
  }
  return written;
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
