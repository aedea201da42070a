#include "query/commands/export/export.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "base/atomic_file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "query/commands/export/fleet.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/filter_values.h"
#include "query/state/moment.h"
#include "query/state/state.h"

namespace memoir::query {
namespace {

const std::vector<std::string>& subject_names() {
  static const std::vector<std::string> names{"machine", "categories", "processes", "all", "fleet"};
  return names;
}

bool is_snapshot(Format format) {
  return format == Format::smaps_rollup || format == Format::category_metrics;
}

Result<std::vector<ExportOf>> subjects_of(const Options& options) {
  using enum ExportOf;
  const bool many = options.format == Format::openmetrics;
  const std::string word = options.subjects.empty() ? (many ? "all" : "machine") : options.subjects.front();
  if (word == "machine") return std::vector{machine};
  if (word == "categories") return std::vector{categories};
  if (word == "processes") return std::vector{processes};
  if (word == "all" && many) return std::vector{machine, categories, processes};
  if (word == "fleet" && many) return std::vector{fleet};
  if (word == "all" || word == "fleet")
    return malformed(fmt::format("'{}' does not fit one table: it needs --format openmetrics", word));
  return malformed(fmt::format("'{}' is not one of {}{}", to_printable(word), fmt::join(subject_names(), ", "),
                               did_you_mean(word, subject_names())));
}

// Returns the requested range, as far as recorded; with --at, its tick or the rollup bucket that contains it.
Result<Range> range_of(const Context& context) {
  const Recorded recorded{context.file.first_tick_ms, context.file.last_tick_ms};
  if (!context.when.at_ms) {
    const Range asked = range_or_last(context.when, recorded, kLastHourMs);
    return Range{std::max(asked.from_ms, recorded.first_ms), std::min(asked.to_ms, recorded.last_ms)};
  }
  const std::optional<State> state = TRY(load_state(context));
  if (!state) return Range{0, -1};
  const std::int64_t at_ms = state->at_ms;
  return Range{at_ms, at_ms};
}

// An export uses the finest stored data, regardless of its duration.
Result<Tier> finest(const Context& context, Range range) {
  return tier_of(context, {range.from_ms, range.from_ms}, Reads::one);
}

Result<Streamed> stream_snapshot(const Context& context, const Sink& sink) {
  if (!context.options.subjects.empty())
    return malformed("--format: this format has all processes at one time, and takes no SUBJECT");
  if (context.when.range) return malformed("--format: this format has one time, not a range: use --at");
  const std::optional<State> state = TRY(load_state(context));
  if (!state) return Streamed{true, nothing_recorded(context).warnings};
  if (tick_of(*state) == nullptr)
    return Error{ErrorKind::not_found,
                 "the tick of that time has expired, and rollups lack the fields of this format; "
                 "export --format csv or openmetrics can read rollups"};
  Streamed done;
  const Filter filter = TRY(filter_at(context.options, {&*state}));
  const std::string text =
      TRY(context.options.format == Format::smaps_rollup
              ? rollup_json(*state, filter, done.warnings)
              : category_metrics_json(*state, filter, context.options.suffix.value_or(""), done.warnings));
  const std::int64_t asked_ms = context.when.at_ms.value_or(state->at_ms);
  if (auto stale = stale_warning(*state, asked_ms, context.options.zone))
    done.warnings.insert(done.warnings.begin(), *std::move(stale));
  TRY(sink(text));
  return done;
}

Result<Streamed> stream_series(const Context& context, ExportQuery question, const Sink& sink) {
  const Range range = TRY(range_of(context));
  question.range = range;
  question.filter = TRY(filter_over(context, range));
  question.tier = TRY(finest(context, range));
  const std::int64_t left_out =
      TRY(context.options.format == Format::openmetrics ? export_openmetrics(context, question, sink)
                                                        : export_rows(context, question, sink));
  Streamed done;
  if (holds_groups(question.tier)) {
    done.warnings.push_back(fmt::format("from rollups of {}: each sample is the mean of a bucket, at its start",
                                        tier_width(question.tier)));
  }
  if (left_out > 0) {
    done.warnings.push_back(fmt::format("{} left out: the wall clock was set back, so their times occur twice",
                                        format_count(left_out, "tick is", "ticks are")));
  }
  if (context.when.at_ms && range.to_ms >= 0) return done;
  const Range asked = context.when.range.value_or(range);
  const Coverage coverage = TRY(context.reader.coverage(asked));
  if (coverage.ticks == 0 && coverage.recorded_ms == 0) return Streamed{true, nothing_recorded(context).warnings};
  if (!coverage.gaps.empty()) done.warnings.push_back(coverage_line(coverage, context.options.zone));
  return done;
}

// Returns "smaps_rollup_login.json" for "smaps_rollup.json" and "_login".
std::string with_suffix(const std::string& path, const std::string& suffix) {
  std::filesystem::path named(path);
  named.replace_filename(named.stem().string() + suffix + named.extension().string());
  return named.string();
}

// Returns the labels that all series have: host="…", and the labels given by --label, such as instance and job.
Result<std::string> common_labels(const Context& context) {
  const Options& options = context.options;
  if (!options.labels.empty() && options.format != Format::openmetrics)
    return malformed("--label goes with --format openmetrics");
  std::string labels = label("host", context.runs.empty() ? "" : context.runs.back().boot.host);
  std::set<std::string> taken{"host", "category", "unit", "program", "of",   "limit", "cgroup", "container",
                              "pod",  "version",  "pid",  "start",   "exec", "comm",  "user"};
  for (const std::string& word : options.labels) {
    const std::string name = word.substr(0, word.find('='));
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const bool plain = !name.empty() && is_letter(name.front()) && !name.starts_with("__") &&
                       std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
    if (!plain || name.size() == word.size())
      return malformed(
          fmt::format("--label '{}' is not NAME=VALUE with a NAME of letters, digits and _", to_printable(word)));
    if (!taken.insert(name).second)
      return malformed(fmt::format("--label: '{}' is already in use; choose another name", name));
    labels += "," + label(name, std::string_view(word).substr(name.size() + 1));
  }
  return labels;
}

bool options_of_fleet(const Options& options) {
  return options.limit || options.hour || options.config;
}

Result<Streamed> stream_to(const Context& context, const Sink& sink) {
  if (is_snapshot(context.options.format)) return stream_snapshot(context, sink);
  const std::vector<ExportOf> subjects = TRY(subjects_of(context.options));
  const auto step_ms = TRY(parse_step(context.options, "must be longer than 0"));
  const bool of_processes = std::ranges::find(subjects, ExportOf::processes) != subjects.end();
  if (!of_processes && !context.options.filters.empty())
    return malformed("--filter needs processes: memoir export processes");
  if (subjects.front() != ExportOf::fleet && options_of_fleet(context.options))
    return malformed("--limit, --hour and --config need the subject fleet: memoir export fleet");
  const std::string labels = TRY(common_labels(context));
  return stream_series(context, {subjects, {}, step_ms.value_or(0), {}, labels}, sink);
}

// Writes to standard output, or to the given file, which appears completely or not at all.
Result<Streamed> stream(const Context& context, const Sink& sink) {
  const Options& options = context.options;
  const std::string suffix = options.suffix.value_or("");
  if (suffix.find('/') != std::string::npos) return malformed("--suffix: it is part of a name and cannot contain '/'");
  if (options.textfile) return write_textfile(context, TRY(common_labels(context)));
  if (!options.output) {
    if (options.suffix && options.format != Format::category_metrics)
      return malformed("--suffix goes with -o F, which names the file, or with --format category-metrics");
    return stream_to(context, sink);
  }
  AtomicFile file =
      TRY(AtomicFile::begin(with_suffix(*options.output, suffix), options.force ? Existing::replace : Existing::keep));
  Streamed done = TRY(stream_to(context, [&file](std::string_view text) { return file.write(text); }));
  if (!done.nothing_recorded) TRY(file.commit());
  return done;
}

}  // namespace

Command export_command() {
  return {
      .name = "export",
      .summary = "series and snapshots as CSV, JSON Lines, OpenMetrics",
      .subject = "[SUBJECT]",
      .options = {Option::at, Option::from, Option::to, Option::last, Option::day, Option::filter, Option::step,
                  Option::tier, Option::limit, Option::label, Option::textfile, Option::output, Option::suffix,
                  Option::force, Option::hour, Option::config},
      .examples = {{"memoir export processes --last 30m --step 1m > processes.csv", "each process, minute by minute"},
                   {"memoir export --format openmetrics --last 6h --step 1m > memory.om",
                    "for promtool tsdb create-blocks-from openmetrics memory.om DIR"},
                   {"memoir export --format openmetrics --textfile memoir.prom", "current values, for node_exporter"},
                   {"memoir export --at 03:14 --format smaps-rollup -o smaps_rollup.json",
                    "each process's smaps_rollup as it was"}},
      .step_help = "one sample every S (default: every tick)",
      .limit_help = fmt::format("for the subject fleet: the N largest identities, cgroups and categories, and N leaks "
                                "(default: {}); at most {} series in total",
                                kFleetRows, kMaxFleetSeries),
      .subject_help =
          "SUBJECT: machine (the default), categories, processes; with --format openmetrics also all (there the "
          "default) and fleet, the bounded series that --textfile writes",
      .stream = stream,
      .formats = {"csv", "jsonl", "openmetrics", "smaps-rollup", "category-metrics"},
      .subject_words = subject_names()};
}

}  // namespace memoir::query
