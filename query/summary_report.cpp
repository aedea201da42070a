#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "query/format.h"
#include "query/limit.h"
#include "query/process_columns.h"
#include "query/summary.h"

namespace memoir::query {

namespace {

constexpr std::size_t kRows = 10;
constexpr std::size_t kGrownRows = 5;
constexpr std::size_t kTextColumns = 80;
constexpr std::int64_t kLeastGrowth = 1024;

std::string print_date(std::int64_t ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  return fmt::format("{:04}-{:02}-{:02}", at.year, at.month, at.day);
}

std::string print_long_date(std::int64_t ms, Zone zone) {
  constexpr std::array days{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                              "July",    "August",   "September", "October", "November", "December"};
  const Civil at = to_civil(ms, zone);
  return fmt::format("{}, {} {} {}", days[static_cast<std::size_t>(weekday(at))], at.day,
                     months[static_cast<std::size_t>(at.month - 1)], at.year);
}

Value kib_of(const std::optional<Extremum>& extremum) {
  return extremum ? Value(extremum->value) : Value();
}

Value ms_of(const std::optional<Extremum>& extremum) {
  return extremum ? Value(extremum->from_ms) : Value();
}

template <typename Row>
using Columns = std::vector<ColumnOf<Row>>;

// "at_ms" for machines and the time of the day for people.
template <typename Row>
void add_time(Columns<Row>& columns, const std::string& name, const std::string& header, int least_useful, Zone zone,
              std::function<Value(const Row&)> get) {
  columns.push_back({{name, "", Kind::time, 0, Shown::machines}, get});
  columns.push_back({{"", header, Kind::time, least_useful, Shown::people}, [get, zone](const Row& row) {
                       const Value value = get(row);
                       const auto* ms = std::get_if<std::int64_t>(&value);
                       return ms == nullptr ? Value() : Value(print_minute(*ms, zone));
                     }});
}

Table day_table(const Summary& summary, Zone zone) {
  using Row = MachineDay;
  Columns<Row> columns{
      {{"day", "DAY"}, [zone](const Row& row) { return Value(print_date(row.day.begin_ms, zone)); }},
      {{"begin_ms", "", Kind::time, 0, Shown::machines}, [](const Row& row) { return Value(row.day.begin_ms); }},
      {{"recorded_percent", "RECORDED", Kind::percent, 4},
       [](const Row& row) {
         const auto length = static_cast<double>(row.day.end_ms - row.day.begin_ms);
         return Value(100.0 * static_cast<double>(row.recorded_ms) / length);
       }},
      {{"used_mean_kib", "USED", Kind::size}, [](const Row& row) { return maybe(row.used.mean); }},
      {{"used_min_kib", "", Kind::size, 0, Shown::machines}, [](const Row& row) { return kib_of(row.used.lowest); }},
      {{"used_max_kib", "MAX", Kind::size}, [](const Row& row) { return kib_of(row.used.highest); }}};
  add_time<Row>(columns, "used_max_at_ms", "AT", 3, zone, [](const Row& row) { return ms_of(row.used.highest); });
  columns.push_back(
      {{"available_min_kib", "AVAIL", Kind::size, 2}, [](const Row& row) { return kib_of(row.available.lowest); }});
  columns.push_back({{"swap_max_kib", "SWAP", Kind::size, 3}, [](const Row& row) { return kib_of(row.swap.highest); }});
  columns.push_back(
      {{"stalled_percent", "STALLED", Kind::percent, 3}, [](const Row& row) { return maybe(row.stalled_percent); }});
  columns.push_back({{"oom_kills", "OOM", Kind::count, 1}, [](const Row& row) { return Value(row.oom_kills); }});
  return make_table(columns, summary.days);
}

void add_usage(Columns<Usage>& columns, Zone zone) {
  columns.push_back({{"mean_kib", "MEAN", Kind::size}, [](const Usage& row) { return maybe(row.pss.mean); }});
  columns.push_back({{"max_kib", "MAX", Kind::size}, [](const Usage& row) { return kib_of(row.pss.highest); }});
  add_time<Usage>(columns, "max_from_ms", "AT", 2, zone, [](const Usage& row) { return ms_of(row.pss.highest); });
  columns.push_back({{"max_until_ms", "", Kind::time, 0, Shown::machines},
                     [](const Usage& row) { return row.pss.highest ? Value(row.pss.highest->until_ms) : Value(); }});
  columns.push_back(
      {{"grown_day_kib", "DAY", Kind::change, 3}, [](const Usage& row) { return maybe(row.grown_day()); }});
  columns.push_back(
      {{"grown_week_kib", "WEEK", Kind::change, 3}, [](const Usage& row) { return maybe(row.grown_week()); }});
  columns.push_back(
      {{"processes", "", Kind::count, 0, Shown::machines}, [](const Usage& row) { return Value(row.most_processes); }});
}

void add_name(Columns<Usage>& columns, const char* name, const char* header) {
  columns.push_back({{name, header}, [](const Usage& row) { return Value(row.name); }});
}

// Leaves the first rows, and says what the others held.
Section usage_section(std::string name, std::string title, const Columns<Usage>& columns, std::vector<Usage> rows,
                      const Options& options) {
  const std::size_t all = rows.size();
  const std::size_t shown = limited(options, all, kRows);
  std::int64_t rest_kib = 0;
  for (std::size_t i = shown; i < all; ++i) rest_kib += rows[i].pss.mean.value_or(0);
  rows.resize(shown);
  Section section{std::move(name), std::move(title), make_table(columns, rows), {}};
  if (shown < all) {
    section.notes.push_back(fmt::format("{} of {}; the other {} held {} on average (--limit 0 shows all).", shown, all,
                                        all - shown, print_size(rest_kib, options.units)));
  }
  return section;
}

Section category_section(const Summary& summary, const Options& options) {
  Columns<Usage> columns;
  add_usage(columns, options.zone);
  add_name(columns, "category", "CATEGORY");
  return usage_section("categories", "Categories (PSS), and by how much they grew", columns, summary.categories,
                       options);
}

Section identity_section(const Summary& summary, const Options& options) {
  Columns<Usage> columns;
  add_usage(columns, options.zone);
  columns.push_back(
      {{"hwm_kib", "", Kind::size, 0, Shown::machines}, [](const Usage& row) { return maybe(row.hwm_kib); }});
  add_name(columns, "identity", "UNIT AND COMMAND");
  return usage_section("identities", "Programs (PSS): what stays the same when they are restarted", columns,
                       summary.identities, options);
}

Section process_section(const Summary& summary, const Options& options) {
  using Row = ProcessPeak;
  Columns<Row> columns{
      {{"hwm_kib", "HWM", Kind::size}, [](const Row& row) { return Value(row.hwm_kib); }},
  };
  add_time<Row>(columns, "at_ms", "AT", 1, options.zone, [](const Row& row) { return Value(row.at_ms); });
  columns.push_back(
      {{"before_ms", "", Kind::time, 0, Shown::machines}, [](const Row& row) { return Value(row.before_ms); }});
  columns.push_back(
      {{"pid", "PID", Kind::count, 2}, [](const Row& row) { return Value(std::int64_t{row.process.info.key.pid}); }});
  add_identity_for_machines(columns, [](const Row& row) { return &row.process.info; });
  columns.push_back({{"alive", "", Kind::text, 0, Shown::machines},
                     [](const Row& row) { return Value(!row.process.gone_ms.has_value()); }});
  columns.push_back({{"", "COMMAND", Kind::text, 0, Shown::people},
                     [](const Row& row) { return Value(shown_command(row.process.info, '?')); }});
  std::vector<Row> rows = summary.processes;
  rows.resize(limited(options, rows.size(), kGrownRows));
  return {"processes", "Highest marks that single processes reached (VmHWM)", make_table(columns, rows), {}};
}

// Those that grew by what can be seen, the most first.
Section grown_section(const Summary& summary, const Options& options, bool week) {
  using Row = const Usage*;
  const auto grown = [week](Row row) { return week ? row->grown_week() : row->grown_day(); };
  std::vector<Row> rows;
  for (const Usage& of : summary.identities) {
    const auto by = grown(&of);
    const std::int64_t begin = (week ? of.week_kib : of.begin_kib).value_or(0);
    if (by && *by >= std::max(kLeastGrowth, begin / 100)) rows.push_back(&of);
  }
  std::ranges::stable_sort(rows, [&](Row a, Row b) { return *grown(a) > *grown(b); });
  const std::size_t all = rows.size();
  rows.resize(limited(options, all, kGrownRows));
  const Columns<Row> columns{
      {{"grown_kib", "GROWN", Kind::change}, [grown](const Row& row) { return maybe(grown(row)); }},
      {{"begin_kib", "FROM", Kind::size, 1},
       [week](const Row& row) { return maybe(week ? row->week_kib : row->begin_kib); }},
      {{"end_kib", "TO", Kind::size, 1}, [](const Row& row) { return maybe(row->end_kib); }},
      {{"identity", "UNIT AND COMMAND"}, [](const Row& row) { return Value(row->name); }},
  };
  Section section{week ? "grown_week" : "grown_day",
                  week ? "Grew most over the week (first hour of the seven days to last of the day)"
                       : "Grew most over the day (first hour to last)",
                  make_table(columns, rows),
                  {}};
  if (rows.size() < all) section.notes.push_back(fmt::format("{} of {} that grew.", rows.size(), all));
  return section;
}

Section restart_section(const Summary& summary, const Options& options) {
  using Row = Restarted;
  Columns<Row> columns{{{"times", "TIMES", Kind::count}, [](const Row& row) { return Value(row.times); }}};
  add_time<Row>(columns, "last_ms", "LAST", 0, options.zone, [](const Row& row) { return Value(row.last_ms); });
  columns.push_back({{"lived_ms", "LIVED", Kind::duration, 2}, [](const Row& row) { return Value(row.lived_ms); }});
  columns.push_back({{"pause_ms", "PAUSE", Kind::duration, 3}, [](const Row& row) { return Value(row.pause_ms); }});
  columns.push_back({{"hwm_kib", "HWM", Kind::size, 1}, [](const Row& row) { return maybe(row.hwm_kib); }});
  columns.push_back({{"identity", "UNIT AND COMMAND"}, [](const Row& row) { return Value(row.name); }});
  std::vector<Row> rows = summary.restarts;
  const std::size_t all = rows.size();
  rows.resize(limited(options, all, kRows));
  Section section{"restarts",
                  "Restarts: ended after ten minutes or more, and begun again within ten",
                  make_table(columns, rows),
                  {}};
  if (rows.size() < all) section.notes.push_back(fmt::format("{} of {} programs.", rows.size(), all));
  return section;
}

Section oom_section(const Summary& summary, Zone zone) {
  using Row = OomKills;
  Columns<Row> columns;
  add_time<Row>(columns, "from_ms", "FROM", 0, zone, [](const Row& row) { return Value(row.from_ms); });
  add_time<Row>(columns, "until_ms", "UNTIL", 0, zone, [](const Row& row) { return Value(row.until_ms); });
  columns.push_back({{"kills", "KILLS", Kind::count}, [](const Row& row) { return Value(row.kills); }});
  return {"oom", "OOM kills, by the kernel's counter", make_table(columns, summary.oom_kills), {}};
}

Section event_section(const Summary& summary, Zone zone) {
  Columns<Event> columns;
  add_time<Event>(columns, "at_ms", "AT", 0, zone, [](const Event& event) { return Value(event.at.wall_ms); });
  columns.push_back({{"kind", "KIND"}, [](const Event& event) { return Value(event.kind); }});
  columns.push_back({{"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true},
                     [](const Event& event) { return Value(event.text); }});
  return {"events", "Events of the recording", make_table(columns, summary.recorder.events), {}};
}

std::vector<Field> facts_for_people(const Summary& summary, Zone zone) {
  const MachineDay& today = summary.today();
  const auto when = [zone](const char* what, const std::optional<Extremum>& at) {
    return at ? fmt::format("{}, {}", what, print_minute(at->from_ms, zone)) : std::string(what);
  };
  std::vector<Field> facts{
      {"used_mean_kib", "In use, mean", Kind::size, maybe(today.used.mean)},
      {"used_max_kib", when("In use, most", today.used.highest), Kind::size, kib_of(today.used.highest)},
      {"available_min_kib", when("Available, least", today.available.lowest), Kind::size,
       kib_of(today.available.lowest)},
      {"swap_max_kib", "Swap, most", Kind::size, kib_of(today.swap.highest)},
      {"stalled_percent", "Stalled on memory (PSI)", Kind::percent, maybe(today.stalled_percent)},
      {"oom_kills", "OOM kills", Kind::count, today.oom_kills}};
  return facts;
}

std::vector<Field> facts_for_machines(const Summary& summary, Zone zone) {
  const MachineDay& today = summary.today();
  const RecorderDay& recorder = summary.recorder;
  return {{"day", "", Kind::text, print_date(summary.day.begin_ms, zone)},
          {"over", "", Kind::text, summary.over},
          {"tier", "", Kind::text, std::string(to_string(summary.tier))},
          {"total_kib", "", Kind::size, maybe(summary.total_kib)},
          {"swap_total_kib", "", Kind::size, maybe(summary.swap_total_kib)},
          {"used_max_at_ms", "", Kind::time, ms_of(today.used.highest)},
          {"available_min_at_ms", "", Kind::time, ms_of(today.available.lowest)},
          {"swap_max_at_ms", "", Kind::time, ms_of(today.swap.highest)},
          {"stalled_worst_percent", "", Kind::percent, maybe(today.worst_percent)},
          {"stalled_worst_from_ms", "", Kind::time, ms_of(today.worst)},
          {"processes_began", "", Kind::count, summary.began},
          {"processes_ended", "", Kind::count, summary.ended},
          {"processes_short_lived", "", Kind::count, summary.shortly},
          {"recorder_starts", "", Kind::count, recorder.starts},
          {"recorder_unclean_ends", "", Kind::count, recorder.unclean},
          {"boots", "", Kind::count, static_cast<std::int64_t>(recorder.boots_ms.size())},
          {"recorder_core_percent", "", Kind::percent, maybe(recorder.core_percent)},
          {"recorder_cpu_us_per_tick", "", Kind::count, maybe(recorder.mean_cpu_us)},
          {"recorder_pss_kib", "", Kind::size, maybe(recorder.pss.mean)},
          {"recorder_pss_max_kib", "", Kind::size, kib_of(recorder.pss.highest)}};
}

void add_peak_note(const Summary& summary, const Options& options, Report& report) {
  if (summary.holders.empty()) return;
  std::string line = fmt::format("At the peak, {}:", print_minute(summary.today().used.highest->from_ms, options.zone));
  for (std::size_t i = 0; i < summary.holders.size(); ++i) {
    line += fmt::format("{} {} {}", i == 0 ? "" : ",", to_printable(to_utf8(summary.holders[i].name)),
                        print_size(summary.holders[i].kib, options.units));
  }
  report.notes.push_back(line + ".");
}

void add_pressure_note(const MachineDay& today, const Options& options, Report& report) {
  if (!today.worst || today.worst_percent.value_or(0) < 0.05) return;
  report.notes.push_back(
      fmt::format("Stalled on memory at the worst {} of the time, {} to {}.", print_percent(*today.worst_percent),
                  print_minute(today.worst->from_ms, options.zone), print_minute(today.worst->until_ms, options.zone)));
}

void add_recorder_note(const Summary& summary, const Options& options, Report& report) {
  const RecorderDay& recorder = summary.recorder;
  std::string line;
  for (const std::int64_t boot_ms : recorder.boots_ms) {
    line += fmt::format("The machine was booted at {}. ", print_minute(boot_ms, options.zone));
  }
  if (recorder.starts > 0) {
    line += fmt::format("The recorder was started {}. ",
                        recorder.starts == 1 ? "once" : print_count(recorder.starts, "time", "times"));
  }
  if (recorder.unclean > 0)
    line +=
        fmt::format("It died {}. ", recorder.unclean == 1 ? "once" : print_count(recorder.unclean, "time", "times"));
  if (recorder.core_percent) {
    line += fmt::format("Recording took {:.2f}% of one core ({:.1f} ms a tick)", *recorder.core_percent,
                        *recorder.mean_cpu_us / 1000);
    line += recorder.pss.mean ? "" : ". ";
  }
  if (recorder.pss.mean) {
    line += fmt::format("{}{} of memory (at most {}).", recorder.core_percent ? " and " : "Recording took ",
                        print_size(*recorder.pss.mean, options.units),
                        print_size(recorder.pss.highest->value, options.units));
  }
  if (!line.empty()) report.notes.push_back(line);
}

void add_notes(const Summary& summary, const Options& options, Report& report) {
  add_peak_note(summary, options, report);
  add_pressure_note(summary.today(), options, report);
  report.notes.push_back(fmt::format("{} began and {} ended; {} of these lived for less than ten minutes.",
                                     print_count(summary.began, "process", "processes"), summary.ended,
                                     summary.shortly));
  add_recorder_note(summary, options, report);
  if (summary.tier != Tier::five_minutes) {
    report.notes.push_back(fmt::format("The day is told from buckets of {}: times are as coarse.",
                                       summary.tier == Tier::hour ? "an hour" : "a UTC day"));
  }
}

}  // namespace

void fill_summary(const Context& context, const Summary& summary, Report& report) {
  const Options& options = context.options;
  const Zone zone = options.zone;
  report.title =
      fmt::format("memory on {}{}", print_long_date(summary.day.begin_ms, zone), summary.over ? "" : ", so far");
  report.lead = summary_lead(summary, options);
  report.width = kTextColumns;
  report.facts = facts_for_people(summary, zone);
  for (Field& fact : facts_for_machines(summary, zone)) report.facts.push_back(std::move(fact));
  report.drawing = summary_drawing(summary, options, context.screen ? context.screen->columns : kTextColumns);
  report.charts = summary_charts(summary, zone);
  report.rows_title = "The day, and the seven before it";
  report.rows = day_table(summary, zone);
  report.sections = {category_section(summary, options),
                     identity_section(summary, options),
                     grown_section(summary, options, false),
                     grown_section(summary, options, true),
                     process_section(summary, options),
                     restart_section(summary, options),
                     oom_section(summary, zone),
                     event_section(summary, zone)};
  add_notes(summary, options, report);
}

}  // namespace memoir::query
