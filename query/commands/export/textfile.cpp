// The file that node_exporter's textfile collector reads: the text format of Prometheus, without times. What one write
// is to know of the one before stands in the file that is replaced: the tick that it was of, and the leaks, which are
// judged again when they are an hour old.

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "base/own_file.h"
#include "base/partial_file.h"
#include "base/text.h"
#include "query/answer/leaks/judged_leaks.h"
#include "query/answer/recording.h"
#include "query/commands/export/fleet.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

constexpr std::size_t kMostBytes = 4 * 1024 * 1024;
constexpr mode_t kMode = 0644;  // node_exporter runs as a user of its own

std::string name_of(const Family& family) {
  return family.name + (family.counter ? "_total" : "");
}

std::string text_of(const std::vector<FleetSample>& samples) {
  std::string text;
  const Family* last = nullptr;
  for (const FleetSample& sample : samples) {
    const Family& family = fleet_families()[sample.family];
    const std::string name = name_of(family);
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

// What is taken over from the write before.
struct Before {
  std::optional<std::int64_t> tick_ms;
  FleetLeaks leaks;
};

bool is_of_leaks(std::size_t family) {
  return family >= family_of(FleetOf::leaks) && family <= family_of(FleetOf::leak_confidence);
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

// A line as text_of() wrote it, of a machine with these labels.
std::optional<FleetSample> sample_of(std::string_view line, const std::string& labels) {
  static const std::unordered_map<std::string, std::size_t> numbers = [] {
    std::unordered_map<std::string, std::size_t> all;
    for (std::size_t i = 0; i < fleet_families().size(); ++i) all.emplace(name_of(fleet_families()[i]), i);
    return all;
  }();
  const std::size_t open = line.find('{');
  const std::size_t close = line.rfind("} ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto number = numbers.find(std::string(line.substr(0, open)));
  const auto value = number_of(line.substr(close + 2));
  FleetSample sample{0, std::string(line.substr(open + 1, close - open - 1))};
  if (number == numbers.end() || !value || !sample.labels.starts_with(labels)) return std::nullopt;
  sample.family = number->second;
  sample.value = std::llround(*value / fleet_families()[sample.family].scale);
  return sample;
}

// A file that is not there, or is not ours, tells nothing.
Before read_before(const std::string& path, const std::string& labels) {
  Before before;
  Buffer buffer;
  const Result<std::string_view> text = read_named_file(path, buffer, kMostBytes);
  if (!text) return before;
  std::size_t last_family = 0;
  std::size_t rank = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    std::optional<FleetSample> sample = sample_of(cut_line(rest), labels);
    if (!sample) continue;
    if (sample->family == family_of(FleetOf::recorder_last_tick)) before.tick_ms = sample->value;
    if (!is_of_leaks(sample->family)) continue;
    if (sample->family == family_of(FleetOf::leaks_judged)) before.leaks.judged_ms = sample->value;
    rank = std::exchange(last_family, sample->family) == sample->family ? rank + 1 : 0;
    sample->rank = rank;
    before.leaks.samples.push_back(*std::move(sample));
  }
  return before;
}

// Time to exhaustion is told as of the tick that it was written at.
void as_judged(Before& before) {
  const std::int64_t passed_ms = before.tick_ms.value_or(before.leaks.judged_ms) - before.leaks.judged_ms;
  for (FleetSample& sample : before.leaks.samples) {
    if (sample.family == family_of(FleetOf::leak_exhaustion)) sample.value += passed_ms;
  }
}

Status check_options(const Options& options) {
  if (options.format != Format::openmetrics) return malformed("--textfile goes with --format openmetrics");
  if (options.output || options.suffix || options.force)
    return malformed("--textfile names the file, and replaces it: -o, --suffix and --force do not go with it");
  if (options.from || options.to || options.last || options.day || options.step)
    return malformed("--textfile is of now: a range goes with memoir export fleet --format openmetrics");
  if (!options.filters.empty()) return malformed("--filter is of processes, which are not in the file of --textfile");
  if (!options.subjects.empty() && options.subjects.front() != "fleet")
    return malformed("--textfile is of the subject fleet, and needs no other");
  return Done{};
}

Result<PartialFile> begin_file(const std::string& path) {
  Result<PartialFile> file = PartialFile::begin(path, Existing::replace, kMode);
  if (file || (file.error().kind != ErrorKind::gone && file.error().kind != ErrorKind::denied)) return file;
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const bool gone = file.error().kind == ErrorKind::gone;
  return Error{ErrorKind::io,
               fmt::format("{}; {}", file.error().message,
                           gone ? fmt::format("make the folder {}, or name a file in another", folder)
                                : fmt::format("let this user write in {}, or name a file in another folder", folder))};
}

Result<FleetAnswer> answer_of(const Context& context, const std::string& labels, Streamed& done) {
  const bool at_rest =
      !context.when.at_ms && judge_recording(context.file, context.runs, context.now_ms) != Recording::active;
  FleetQuestion question{0, {}, fleet_rows(context.options), labels, {}, true};
  if (at_rest || context.file.ticks == 0) return fleet_at_rest(context, question);
  const auto tick = TRY(context.reader.tick_at(context.when.at_ms.value_or(context.file.last_tick_ms)));
  if (!tick) return Error{ErrorKind::gone, "no tick of that time is kept, and --textfile is made of one"};
  question.at_ms = tick->begin.wall_ms;
  Before before = read_before(*context.options.textfile, labels);
  question.since_ms = before.tick_ms;
  const LeakSettings settings = TRY(leak_settings(context.options, done.warnings));
  const std::int64_t age_ms = question.at_ms - before.leaks.judged_ms;
  if (age_ms < 0 || age_ms >= settings.hour_ms) {
    before.leaks = TRY(judge_leaks(context, question.at_ms, settings, question.most, labels));
  } else {
    as_judged(before);
  }
  return fleet_at(context, question, before.leaks);
}

}  // namespace

Result<Streamed> write_textfile(const Context& context, const std::string& labels) {
  TRY(check_options(context.options));
  PartialFile file = TRY(begin_file(*context.options.textfile));
  Streamed done;
  const FleetAnswer answer = TRY(answer_of(context, labels, done));
  if (answer.left_out > 0) {
    done.warnings.push_back(fmt::format(
        "{} left out, beyond {}: --limit N takes fewer of each kind",
        print_count(static_cast<std::int64_t>(answer.left_out), "series is", "series are"), kMostFleetSeries));
  }
  TRY(file.write(text_of(answer.samples)));
  TRY(file.commit());
  return done;
}

}  // namespace memoir::query
