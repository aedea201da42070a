// memoir summary: what needs attention, and the figures of a day or a week.

#include "query/commands/summary/summary.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "base/file.h"
#include "query/render/render.h"
#include "query/report/format.h"
#include "query/state/moment.h"

namespace memoir::query {

namespace {

// `parts` has the days of a week; it is empty for one day.
Result<Report> summarise_day(const Context& context, Day day, bool whole, std::vector<Day> parts = {}) {
  // A day that is not over ends now.
  const std::int64_t latest_ms = std::max(context.now_ms, context.file.last_tick_ms);
  const Range range{day.begin_ms, std::clamp(latest_ms, day.begin_ms, day.end_ms - 1)};
  Report report = TRY(begin_range_report(context, range));
  if (report.nothing_recorded) return report;
  const std::optional<DaySummary> summary = TRY(load_summary(context, day, std::move(parts)));
  if (!summary) {
    report.nothing_recorded = true;
    report.warnings.emplace_back("too little was recorded on this day for a summary");
    return report;
  }
  report.not_notable = context.options.if_notable && summary->dull();
  fill_summary(context, *summary, whole, report);
  return report;
}

namespace fs = std::filesystem;

constexpr int kKeptDays = 400;

constexpr std::size_t kMaxHosts = 1000;

constexpr std::array kEndings{".html", ".txt"};

bool is_there(const std::string& folder, const std::string& date) {
  return std::ranges::all_of(kEndings, [&](const char* ending) {
    std::error_code error;
    return fs::is_regular_file(fs::path(folder) / (date + ending), error);
  });
}

Status write_day(const Context& context, const std::string& folder, const std::string& date, const Report& report) {
  const Options& options = context.options;
  const ReportContext asked{"summary", context.file.path, context.runs.empty() ? "" : context.runs.back().boot.host};
  const Presentation presentation{options.zone, options.units, false, report.width, options.ascii};
  const std::string path = (fs::path(folder) / date).string();
  const Status page = write_file(path + ".html", render_html(asked, report, presentation));
  return page ? write_file(path + ".txt", render_table(asked, report, presentation)) : page;
}

// "2026-11-19.html": only files with such names may be deleted.
bool is_ours(const std::string& name) {
  const std::string form = "0000-00-00";
  if (name.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = name[i] >= '0' && name[i] <= '9';
    if (form[i] == '0' ? !digit : name[i] != form[i]) return false;
  }
  return std::ranges::find(kEndings, name.substr(form.size())) != kEndings.end();
}

Status delete_oldest(const std::string& folder) {
  std::set<std::string> dates;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const std::string name = entry.path().filename().string(); is_ours(name)) dates.insert(name.substr(0, 10));
  }
  if (error) return Error{ErrorKind::io, fmt::format("{}: cannot be read: {}", folder, error.message())};
  while (dates.size() > kKeptDays) {
    for (const char* ending : kEndings) {
      fs::remove(fs::path(folder) / (*dates.begin() + ending), error);
      if (error)
        return Error{ErrorKind::io,
                     fmt::format("{}: cannot delete {}{}: {}", folder, *dates.begin(), ending, error.message())};
    }
    dates.erase(dates.begin());
  }
  return Done{};
}

// Returns the days that may be missing, the oldest first: the days before today since the recording started, at most
// kKeptDays of them.
Result<std::vector<Day>> candidates(const Context& context) {
  const Zone zone = context.options.zone;
  const std::vector<TierSpan> spans = TRY(context.reader.tiers());
  std::int64_t first_ms = context.now_ms;
  for (const TierSpan& span : spans) first_ms = std::min(first_ms, span.from_ms);
  const Day today = TRY(parse_day("today", context.now_ms, zone));
  std::vector<Day> days;
  for (int back = 1; back <= kKeptDays; ++back) {
    const Day day = day_before(today, back, zone);
    if (day.end_ms <= first_ms) break;
    days.push_back(day);
  }
  std::ranges::reverse(days);
  return days;
}

// Writes a summary of each recorded day before today that has no file in `folder`. Deletes the oldest beyond 400.
// Returns the latest summary written.
Result<Report> write_missing(const Context& context, const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Error{ErrorKind::io, fmt::format("{}: is not a folder; make it first: mkdir -p {}", folder, folder)};
  }
  const std::vector<Day> days = TRY(candidates(context));
  Report latest;
  std::vector<std::string> written;
  for (const Day& day : days) {
    const std::string date = format_date(day.begin_ms, context.options.zone);
    if (is_there(folder, date)) continue;
    Report report = TRY(summarise_day(context, day, true));
    if (report.nothing_recorded) continue;
    TRY(write_day(context, folder, date, report));
    written.push_back(date);
    latest = std::move(report);
  }
  TRY(delete_oldest(folder));
  if (written.empty()) {
    latest.title = fmt::format("no day is missing in {}", folder);
  } else if (written.size() == 1) {
    latest.notes.push_back(fmt::format("Written to {}/{}.html and .txt.", folder, written.front()));
  } else {
    latest.notes.push_back(fmt::format("Written to {}: {}, {} to {}.", folder,
                                       format_count(static_cast<std::int64_t>(written.size()), "day", "days"),
                                       written.front(), written.back()));
  }
  return latest;
}

Result<Report> run_summary(const Context& context) {
  if (context.options.write_missing) return write_missing(context, *context.options.write_missing);
  const Day day = TRY(parse_day(context.options.day.value_or("yesterday"), context.now_ms, context.options.zone));
  std::vector<Day> parts;
  if (context.options.week) parts = week_until(day, context.options.zone);
  const Day asked = parts.empty() ? day : Day{parts.front().begin_ms, day.end_ms};
  Result<Report> report = summarise_day(context, asked, context.options.all, std::move(parts));
  const bool later = context.file.ticks > 0 && context.file.last_tick_ms >= day.end_ms;
  if (report && report->nothing_recorded && !context.options.day && later) {
    report->warnings.emplace_back("the default is yesterday; for today: memoir summary --day today");
  }
  return report;
}

}  // namespace

std::vector<Day> week_until(const Day& day, Zone zone) {
  std::vector<Day> days;
  for (int back = kDaysBefore - 1; back >= 0; --back) days.push_back(back == 0 ? day : day_before(day, back, zone));
  return days;
}

Command summary_command() {
  return {.name = "summary",
          .summary = "one day: what needs attention, and its figures",
          .subject = "[FILE...]",
          .options = {Option::day, Option::week, Option::if_notable, Option::all, Option::limit, Option::hour,
                      Option::config, Option::ascii, Option::write_missing},
          .examples = {{"memoir summary", "yesterday, in 80 columns, ready to mail"},
                       {"memoir summary --format html > yesterday.html", "the same as a page with charts"},
                       {"memoir summary --week --if-notable", "the last seven days, if anything needs attention"}},
          .run = run_summary,
          .subject_help =
              "FILE: databases or extracts of several hosts: one line for each, those that need attention "
              "first",
          .subjects_are_files = true,
          .run_alone = summarise_hosts,
          .max_subjects = kMaxHosts};
}

}  // namespace memoir::query
