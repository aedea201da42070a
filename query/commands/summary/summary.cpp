// memoir summary: what a day was like.

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

// The report of a day, whole.
Result<Report> summarise_day(const Context& context, Day day) {
  // A day that is not over ends now.
  const std::int64_t latest_ms = std::max(context.now_ms, context.file.last_tick_ms);
  const Range range{day.begin_ms, std::clamp(latest_ms, day.begin_ms, day.end_ms - 1)};
  Report report = TRY(begin_range_report(context, range));
  if (report.nothing_recorded) return report;
  const std::optional<DaySummary> summary = TRY(load_summary(context, day));
  if (!summary) {
    report.nothing_recorded = true;
    report.warnings.emplace_back("what was recorded on this day is too little to be summed up");
    return report;
  }
  fill_summary(context, *summary, report);
  return report;
}

namespace fs = std::filesystem;

constexpr int kKeptDays = 400;

constexpr std::array kEndings{".html", ".txt"};

bool is_there(const std::string& folder, const std::string& date) {
  return std::ranges::all_of(kEndings, [&](const char* ending) {
    std::error_code error;
    return fs::is_regular_file(fs::path(folder) / (date + ending), error);
  });
}

Status write_day(const Context& context, const std::string& folder, const std::string& date, const Report& report) {
  const Options& options = context.options;
  const Asked asked{"summary", context.file.path, context.runs.empty() ? "" : context.runs.back().boot.host};
  const Presentation presentation{options.zone, options.units, false, report.width, options.ascii};
  const std::string path = (fs::path(folder) / date).string();
  const Status page = write_file(path + ".html", render_html(asked, report, presentation));
  return page ? write_file(path + ".txt", render_table(asked, report, presentation)) : page;
}

// "2026-11-19.html": only what is named so is ours to delete.
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

// The days that may be missing, the oldest first: those since the recording began, at most as many as are kept.
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

// Writes the days before today that have something recorded and no file in `folder` yet; deletes the oldest beyond 400.
// The answer is the latest of them.
Result<Report> write_missing(const Context& context, const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Error{ErrorKind::gone, fmt::format("{}: is not a folder; make it first: mkdir -p {}", folder, folder)};
  }
  const std::vector<Day> days = TRY(candidates(context));
  Report latest;
  std::vector<std::string> written;
  for (const Day& day : days) {
    const std::string date = print_date(day.begin_ms, context.options.zone);
    if (is_there(folder, date)) continue;
    Report report = TRY(summarise_day(context, day));
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
                                       print_count(static_cast<std::int64_t>(written.size()), "day", "days"),
                                       written.front(), written.back()));
  }
  return latest;
}

Result<Report> run_summary(const Context& context) {
  if (context.options.write_missing) return write_missing(context, *context.options.write_missing);
  const Day day = TRY(parse_day(context.options.day.value_or("yesterday"), context.now_ms, context.options.zone));
  Result<Report> report = summarise_day(context, day);
  const bool later = context.file.ticks > 0 && context.file.last_tick_ms >= day.end_ms;
  if (report && report->nothing_recorded && !context.options.day && later) {
    report->warnings.emplace_back("a summary is of yesterday; memoir summary --day today tells of today");
  }
  return report;
}

}  // namespace

Command summary_command() {
  return {.name = "summary",
          .summary = "what a day was like: peaks, who held and who grew, OOM kills, restarts, against the week before",
          .options = {Option::day, Option::limit, Option::hour, Option::config, Option::ascii, Option::write_missing},
          .examples = {{"memoir summary", "yesterday, in 80 columns, as for a mail"},
                       {"memoir summary --format html > yesterday.html", "the same as a page with charts"}},
          .run = run_summary,
          .formats = {"table", "json", "csv", "markdown", "html"}};
}

}  // namespace memoir::query
