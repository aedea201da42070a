// The tables of the summary.

#include <algorithm>
#include <fmt/format.h>

#include "query/commands/summary/summary.h"
#include "query/history/marks.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/process_columns.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMaxRows = 10;
constexpr std::size_t kGrownRows = 5;
constexpr std::int64_t kMinGrowth = 1024;

// Adds a time: for humans as time of day, for data formats in milliseconds.
template <typename Row>
void add_time(Columns<Row>& columns, const std::string& name, const std::string& header, int drop_order, Stamp stamp,
              std::function<Value(const Row&)> get) {
  columns.add(data_column(name, Kind::time), get);
  columns.add(display_column(header, Kind::time, drop_order), [get, stamp](const Row& row) {
    const Value value = get(row);
    const auto* ms = std::get_if<std::int64_t>(&value);
    return ms == nullptr ? Value() : format_minute(*ms, stamp);
  });
}

// Adds the time of an extreme. In a bucket, the exact time is unknown.
template <typename Row>
void add_reached(Columns<Row>& columns, const std::string& from, const std::string& until, int drop_order, Stamp stamp,
                 std::function<const std::optional<Extremum>&(const Row&)> get) {
  columns.add(data_column(from, Kind::time), [get](const Row& row) { return ms_of(get(row)); });
  columns.add(data_column(until, Kind::time),
              [get](const Row& row) { return get(row) ? get(row)->until_ms : Value(); });
  columns.add(display_column("AT", Kind::time, drop_order),
              [get, stamp](const Row& row) { return get(row) ? format_reached(*get(row), stamp) : Value(); });
}

}  // namespace

std::vector<MachineDay> shown_days(const DaySummary& summary, bool all) {
  std::vector<MachineDay> days = summary.is_week() ? summary.week_days : summary.days;
  if (summary.is_week()) days.push_back(summary.today());
  if (all) return days;
  const auto recorded = std::ranges::find_if(days, [](const MachineDay& of) { return of.recorded_ms > 0; });
  days.erase(days.begin(), recorded);
  return days;
}

Table summary_days(const DaySummary& summary, const Options& options) {
  using Row = MachineDay;
  const Zone zone = options.zone;
  const Day& day = summary.day;
  const auto is_whole = [day](const Row& row) {
    return row.day.begin_ms == day.begin_ms && row.day.end_ms == day.end_ms;
  };
  const bool is_week = summary.is_week();
  Columns<Row> columns{
      {display_column("DAY"),
       [=](const Row& row) {
         return is_week && is_whole(row) ? std::string("the week") : format_date(row.day.begin_ms, zone);
       }},
      {data_column("day"), [zone](const Row& row) { return format_date(row.day.begin_ms, zone); }},
      {data_column("days", Kind::count), [=](const Row& row) { return is_week && is_whole(row) ? 7 : 1; }},
      {data_column("begin_ms", Kind::time), [](const Row& row) { return row.day.begin_ms; }},
      {{"recorded_percent", "RECORDED", Kind::percent, 4},
       [](const Row& row) {
         const auto length = static_cast<double>(row.day.end_ms - row.day.begin_ms);
         return 100.0 * static_cast<double>(row.recorded_ms) / length;
       }},
      {{"used_mean_kib", "USED", Kind::size}, [](const Row& row) { return row.used.mean; }},
      {data_column("used_min_kib", Kind::size), [](const Row& row) { return kib_of(row.used.lowest); }},
      {{"used_max_kib", "MAX", Kind::size}, [](const Row& row) { return kib_of(row.used.highest); }}};
  add_reached<Row>(columns, "used_max_at_ms", "used_max_until_ms", 3, {zone, is_week},
                   [](const Row& row) -> const std::optional<Extremum>& { return row.used.highest; });
  columns.add({"available_min_kib", "AVAIL", Kind::size, 2},
              [](const Row& row) { return kib_of(row.available.lowest); });
  columns.add({"swap_max_kib", "SWAP", Kind::size, 3}, [](const Row& row) { return kib_of(row.swap.highest); });
  columns.add({"stalled_percent", "STALLED", Kind::percent, 3}, &Row::stalled_percent);
  columns.add({"oom_kills", "OOM", Kind::count, 1}, [](const Row& row) { return row.oom_kills(); });
  return make_table<Row>(columns, shown_days(summary, is_data_format(options.format)),
                         [is_whole](const Row& row) { return is_whole(row) ? Tone::marked : Tone::plain; });
}

namespace {

void add_usage(Columns<Usage>& columns, Stamp stamp) {
  columns.add({"mean_kib", "MEAN", Kind::size}, [](const Usage& row) { return row.pss.mean; });
  columns.add({"max_kib", "MAX", Kind::size}, [](const Usage& row) { return kib_of(row.pss.highest); });
  add_reached<Usage>(columns, "max_from_ms", "max_until_ms", 2, stamp,
                     [](const Usage& row) -> const std::optional<Extremum>& { return row.pss.highest; });
  columns.add({"grown_day_kib", "DAY", Kind::change, 3}, &Usage::grown_day);
  columns.add({"grown_week_kib", "WEEK", Kind::change, 3}, &Usage::grown_week);
  columns.add(data_column("processes", Kind::count),
              [](const Usage& row) { return row.folded > 0 ? Value() : row.max_processes; });
}

// Human-readable output has the title; machine-readable output has the sort key, too.
template <typename Row>
void add_identity(Columns<Row>& columns) {
  columns.add(data_column("identity"), &Row::name);
  columns.add({"title", "PROGRAM"}, &Row::title);
}

// Returns a section of the first rows. `of` is the noun for the omitted rows; if it is empty, they are not mentioned.
template <typename Row>
Section ranked_section(std::string name, std::string title, const Columns<Row>& columns, std::vector<Row> rows,
                       std::size_t shown, std::string_view of) {
  const std::size_t all = rows.size();
  rows.resize(shown);
  Section section{std::move(name), std::move(title), make_table(columns, rows)};
  mark_sorted(section.table, columns.front().column.name);
  if (shown < all && !of.empty()) note_left_out(section, fmt::format("{} of {} {}.", shown, all, of));
  return section;
}

// Keeps the first rows, and notes the memory of the others.
Section usage_section(std::string name, std::string title, const Columns<Usage>& columns, std::vector<Usage> rows,
                      const Options& options) {
  const std::size_t all = rows.size();
  const std::size_t shown = limited(options, all, kMaxRows);
  std::int64_t rest_kib = 0;
  for (std::size_t i = shown; i < all; ++i) rest_kib += rows[i].pss.mean.value_or(0);
  rows.resize(shown);
  Section section{std::move(name), std::move(title), make_table(columns, rows), {}};
  mark_sorted(section.table, "max_kib");
  if (shown < all) {
    note_left_out(section, fmt::format("{} of {}; the other {} used {} on average (--limit 0 shows all).", shown, all,
                                       all - shown, format_size(rest_kib, options.units)));
  }
  return section;
}

Section category_section(const DaySummary& summary, const Options& options) {
  Columns<Usage> columns;
  add_usage(columns, {options.zone, summary.is_week()});
  columns.add({"category", "CATEGORY"}, &Usage::name);
  return usage_section("categories", "Categories by PSS", columns, summary.categories, options);
}

Section identity_section(const DaySummary& summary, const Options& options) {
  Columns<Usage> columns;
  add_usage(columns, {options.zone, summary.is_week()});
  columns.add(data_column("hwm_kib", Kind::size), &Usage::hwm_kib);
  columns.add({"pid", "PID", Kind::count, 2}, &Usage::pid);
  columns.add(data_column("folded", Kind::count), &Usage::folded);
  add_identity(columns);
  return usage_section("identities", "Programs by PSS, across restarts", columns, summary.identities, options);
}

Section process_section(const DaySummary& summary, const Options& options) {
  using Row = ProcessPeak;
  Columns<Row> columns{{{"hwm_kib", "HWM", Kind::size}, [](const Row& row) { return row.mark.value_kib; }}};
  add_time<Row>(columns, "at_ms", "AT", 1, {options.zone, summary.is_week()},
                [](const Row& row) { return row.mark.at_ms; });
  columns.add(data_column("before_ms", Kind::time), [](const Row& row) { return row.mark.before_ms; });
  columns.add({"seen_by", "SOURCE", Kind::text, 3}, [](const Row& row) { return seen_by_value(row.mark.seen_by); });
  add_process(
      columns, [](const Row& row) { return &row.process.info; }, 2);
  columns.add(data_column("alive"), [](const Row& row) { return !row.process.exited_ms.has_value(); });
  columns.add(display_column("COMMAND"), [](const Row& row) { return shown_command(row.process.info, '?'); });
  return ranked_section("processes", "Highest process peaks (VmHWM)", columns, summary.processes,
                        limited(options, summary.processes.size(), kGrownRows), "");
}

// Returns the subjects with visible growth, the largest first.
Section grown_section(const DaySummary& summary, const Options& options, bool week) {
  using Row = Usage;
  const auto grown = [week](const Row& row) { return week ? row.grown_week() : row.grown_day(); };
  std::vector<Row> rows;
  for (const Usage& of : summary.identities) {
    const auto by = grown(of);
    const std::int64_t begin = (week ? of.week_kib : of.begin_kib).value_or(0);
    if (by && *by >= std::max(kMinGrowth, begin / 100)) rows.push_back(of);
  }
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) { return *grown(a) > *grown(b); });
  Columns<Row> columns{
      {{"grown_kib", "GROWN", Kind::change}, [grown](const Row& row) { return grown(row); }},
      {{"begin_kib", "FROM", Kind::size, 1}, [week](const Row& row) { return week ? row.week_kib : row.begin_kib; }},
      {{"end_kib", "TO", Kind::size, 1}, &Row::end_kib},
  };
  columns.add({"pid", "PID", Kind::count, 2}, &Usage::pid);
  add_identity(columns);
  const char* title = week ? "Largest growth over the week" : "Largest growth over the day";
  return ranked_section(week ? "grown_week" : "grown_day", title, columns, rows,
                        limited(options, rows.size(), kGrownRows), "that grew");
}

Section restart_section(const DaySummary& summary, const Options& options) {
  using Row = Restarted;
  Columns<Row> columns{{{"times", "TIMES", Kind::count}, &Row::times}};
  add_time<Row>(columns, "last_ms", "LAST", 0, {options.zone, summary.is_week()}, &Row::last_ms);
  columns.add({"lived_ms", "MAX UPTIME", Kind::duration, 2}, &Row::lived_ms);
  columns.add({"pause_ms", "PAUSE", Kind::duration, 3}, &Row::pause_ms);
  columns.add({"hwm_kib", "HWM", Kind::size, 1}, &Row::hwm_kib);
  add_identity(columns);
  return ranked_section("restarts", "Restarts (ran 10 min, back within 10)", columns, summary.restarts,
                        limited(options, summary.restarts.size(), kMaxRows), "programs");
}

Section oom_section(const DaySummary& summary, Stamp stamp) {
  using Row = ActivityBucket;
  Columns<Row> columns;
  add_time<Row>(columns, "from_ms", "FROM", 0, stamp, &Row::from_ms);
  add_time<Row>(columns, "until_ms", "UNTIL", 0, stamp, &Row::until_ms);
  columns.add({"kills", "KILLS", Kind::count}, [](const Row& row) { return row.activity.oom_kills; });
  return {"oom", "OOM kills", make_table(columns, summary.oom_kills), {}};
}

Section event_section(const DaySummary& summary, Stamp stamp) {
  Columns<Event> columns;
  add_time<Event>(columns, "at_ms", "AT", 0, stamp, [](const Event& event) { return event.at.wall_ms; });
  columns.add({"kind", "KIND"}, &Event::kind);
  columns.add({"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true}, &Event::text);
  return {"events", "Recorder events", make_table(columns, summary.recorder.events), {}};
}

}  // namespace

std::vector<Section> summary_sections(const DaySummary& summary, const Options& options) {
  const Stamp stamp{options.zone, summary.is_week()};
  return {
      category_section(summary, options),    identity_section(summary, options), grown_section(summary, options, false),
      grown_section(summary, options, true), leak_section(summary, options),     process_section(summary, options),
      restart_section(summary, options),     oom_section(summary, stamp),        event_section(summary, stamp)};
}

}  // namespace memoir::query
