// Writes the file for node_exporter's textfile collector: Prometheus's text format without times. The file also has the
// data for the next write (last_write.h).

#include <filesystem>
#include <fmt/format.h>
#include <iterator>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/own_file.h"
#include "query/commands/export/fleet.h"
#include "query/commands/export/last_write.h"
#include "query/history/recording.h"
#include "query/leaks/judged_leaks.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

constexpr std::size_t kMaxBytes = 4 * 1024 * 1024;
constexpr mode_t kMode = 0644;  // node_exporter runs as its own user

std::string text_of(const std::vector<FleetSample>& samples) {
  std::string text;
  const Family* last = nullptr;
  for (const FleetSample& sample : samples) {
    const Family& family = fleet_families()[sample.family];
    const std::string name = series_name(family);
    if (last != &family) {
      fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, family.help, name,
                     family.counter ? "counter" : "gauge");
      last = &family;
    }
    const double value = static_cast<double>(sample.value) * family.scale;
    fmt::format_to(std::back_inserter(text), "{}{{{}}} {}\n", name, sample.labels, value);
  }
  return text;
}

Status check_options(const Options& options) {
  if (options.format != Format::openmetrics) return malformed("--textfile goes with --format openmetrics");
  if (options.output || options.suffix || options.force)
    return malformed("--textfile names the file and replaces it: leave out -o, --suffix and --force");
  if (options.from || options.to || options.last || options.day || options.step)
    return malformed("--textfile has current values: for a range use memoir export fleet --format openmetrics");
  if (!options.filters.empty()) return malformed("--textfile has no processes: leave out --filter");
  if (!options.subjects.empty() && options.subjects.front() != "fleet")
    return malformed("--textfile has the subject fleet: leave out other subjects");
  return Done{};
}

Result<AtomicFile> begin_file(const std::string& path) {
  Result<AtomicFile> file = AtomicFile::begin(path, Existing::replace, kMode);
  if (file || (file.error().kind != ErrorKind::not_found && file.error().kind != ErrorKind::denied)) return file;
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const bool gone = file.error().kind == ErrorKind::not_found;
  return Error{ErrorKind::io,
               fmt::format("{}; {}", file.error().message,
                           gone ? fmt::format("make the folder {}, or name a file in another", folder)
                                : fmt::format("let this user write in {}, or name a file in another folder", folder))};
}

// Returns an empty LastWrite if the file cannot be read.
LastWrite read_before(const std::string& path, const std::string& labels) {
  Buffer buffer;
  const Result<std::string_view> text = read_named_file(path, buffer, kMaxBytes);
  return text ? last_write(*text, labels) : LastWrite{};
}

bool is_recorded(const Context& context) {
  return context.file.ticks > 0 &&
         (context.when.at_ms || judge_recording(context.file, context.runs, context.now_ms) == Recording::active);
}

Status write_page(const std::string& path, const FleetAnswer& answer) {
  AtomicFile file = TRY(begin_file(path));
  TRY(file.write(text_of(answer.samples)));
  return file.commit();
}

// Writes the values, and returns them. Judging the leaks of a month takes longer than everything else: before they are
// judged again, the file is written with the earlier verdicts.
Result<FleetAnswer> write_now(const Context& context, const std::string& labels, Streamed& done) {
  const std::string& path = *context.options.textfile;
  FleetQuery question{0, {}, fleet_rows(context.options), labels, {}, true};
  FleetAnswer answer = fleet_at_rest(context, question);
  if (is_recorded(context)) {
    const auto tick = TRY(context.reader.tick_at(context.when.at_ms.value_or(context.file.last_tick_ms)));
    if (!tick) return Error{ErrorKind::not_found, "--textfile needs a tick, and no tick of that time is stored"};
    question.at_ms = tick->begin.wall_ms;
    LastWrite before = read_before(path, labels);
    question.since_ms = before.tick_ms;
    const LeakSettings settings = TRY(leak_settings(context.options, done.warnings));
    const std::int64_t age_ms = question.at_ms - before.leaks.judged_ms;
    // An alert must not fire for values that may be long out of date.
    if (age_ms < 0 || age_ms >= 2 * settings.hour_ms) before.leaks = {};
    as_judged(before);
    answer = TRY(fleet_at(context, question, before.leaks));
    if (age_ms < 0 || age_ms >= settings.hour_ms) {
      TRY(write_page(path, answer));
      before.leaks = TRY(judge_leaks(context, question.at_ms, settings, question.most, labels));
      answer = TRY(fleet_at(context, question, before.leaks));
    }
  }
  TRY(write_page(path, answer));
  return answer;
}

}  // namespace

Result<Streamed> write_textfile(const Context& context, const std::string& labels) {
  TRY(check_options(context.options));
  Streamed done;
  const FleetAnswer answer = TRY(write_now(context, labels, done));
  if (answer.left_out > 0) {
    done.warnings.push_back(fmt::format(
        "{} left out, because a page has at most {}: reduce --limit",
        format_count(static_cast<std::int64_t>(answer.left_out), "series is", "series are"), kMaxFleetSeries));
  }
  return done;
}

}  // namespace memoir::query
