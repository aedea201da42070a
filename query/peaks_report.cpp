#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "query/format.h"
#include "query/peaks.h"
#include "query/process_columns.h"
#include "query/tier.h"

namespace memoir::query {

namespace {

using PeakColumns = std::vector<ColumnOf<PeakRow>>;

const ProcessInfo* info_of(const PeakRow& row) {
  return row.process ? &row.process->info : nullptr;
}

std::string printable(std::string_view text) {
  return to_printable(to_utf8(text));
}

void add_peak_columns(PeakColumns& columns, const char* header, const char* now_header) {
  columns.push_back({{"peak_kib", header, Kind::size}, [](const PeakRow& row) { return Value(row.peak.value_kib); }});
  columns.push_back({{"at_ms", "AT", Kind::time, 1}, [](const PeakRow& row) { return Value(row.peak.at_ms); }});
  columns.push_back({{"before_ms", "", Kind::time, 0, Shown::machines},
                     [](const PeakRow& row) { return Value(row.peak.before_ms); }});
  columns.push_back({{"", "WITHIN", Kind::duration, 4, Shown::people}, [](const PeakRow& row) {
                       const std::int64_t within_ms = row.peak.at_ms - row.peak.before_ms;
                       return within_ms > 0 ? Value(within_ms) : Value();
                     }});
  columns.push_back({{"now_kib", now_header, Kind::size, 2}, [](const PeakRow& row) { return maybe(row.now_kib); }});
  columns.push_back({{"now_ms", "", Kind::time, 0, Shown::machines},
                     [](const PeakRow& row) { return row.now_kib ? Value(row.now_ms) : Value(); }});
}

void add_ratio(PeakColumns& columns) {
  const auto ratio = [](const PeakRow& row) { return peak_ratio(row.peak.value_kib, row.now_kib); };
  columns.push_back({{"ratio", "", Kind::count, 0, Shown::machines}, [ratio](const PeakRow& row) {
                       const auto found = ratio(row);
                       return found ? Value(std::round(*found * 1000) / 1000) : Value();
                     }});
  columns.push_back({{"", "RATIO", Kind::count, 3, Shown::people}, [ratio](const PeakRow& row) {
                       const auto found = ratio(row);
                       return found ? Value(fmt::format("{:.2f}", *found)) : Value();
                     }});
}

// Dead: what was resident at its last sight.
Value lives(const PeakRow& row, std::int64_t to_ms) {
  return Value(!row.process->gone_ms || *row.process->gone_ms > to_ms);
}

PeakColumns process_columns(std::int64_t to_ms) {
  PeakColumns columns{
      {{"pid", "PID", Kind::count}, [](const PeakRow& row) { return Value(std::int64_t{row.process->info.key.pid}); }}};
  add_identity_for_machines(columns, info_of);
  add_peak_columns(columns, "PEAK", "LAST");
  add_ratio(columns);
  columns.push_back({{"alive", "ALIVE", Kind::text, 5}, [to_ms](const PeakRow& row) { return lives(row, to_ms); }});
  columns.push_back(
      {{"", "COMMAND", Kind::text, 0, Shown::people}, [](const PeakRow& row) { return Value(row.name); }});
  return columns;
}

PeakColumns group_columns(const std::string& group) {
  PeakColumns columns;
  add_peak_columns(columns, "PEAK", "NOW");
  add_ratio(columns);
  std::string header = group;
  for (char& c : header) c = static_cast<char>(c - 'a' + 'A');
  columns.push_back({{group, header, Kind::text}, [](const PeakRow& row) { return Value(row.name); }});
  return columns;
}

PeakColumns machine_columns() {
  PeakColumns columns;
  add_peak_columns(columns, "MARK", "NOW");
  columns.push_back(
      {{"metric", "", Kind::text, 0, Shown::machines}, [](const PeakRow& row) { return Value(row.name); }});
  columns.push_back({{"", "OF THE MACHINE", Kind::text, 0, Shown::people}, [](const PeakRow& row) {
                       if (row.name == "used") return Value(std::string("most in use"));
                       if (row.name == "swap") return Value(std::string("most swap in use"));
                       return Value(std::string("least MemAvailable"));
                     }});
  return columns;
}

struct OtherRow {
  const Others* others;
  const Holder* holder;
};

Section other_section(const std::vector<Others>& all) {
  using Row = OtherRow;
  std::vector<ColumnOf<Row>> columns{
      {{"of", "", Kind::text}, [](const Row& row) { return Value(row.others->of); }},
      {{"at_ms", "", Kind::time}, [](const Row& row) { return Value(row.others->at_ms); }},
      {{"pss_kib", "", Kind::size}, [](const Row& row) { return Value(row.holder->kib); }},
      {{"pid", "", Kind::count}, [](const Row& row) { return Value(std::int64_t{row.holder->process.info.key.pid}); }}};
  add_identity_for_machines(columns, [](const Row& row) { return &row.holder->process.info; });
  std::vector<Row> rows;
  for (const Others& others : all) {
    for (const Holder& holder : others.holders.largest) rows.push_back({&others, &holder});
  }
  return {"others", "", make_table(columns, rows)};
}

// "Beside machine used, 03:14:07: java (812) 1.2 GiB, postgres (33) 800.0 MiB"
std::vector<std::string> other_lines(const std::vector<Others>& all, const Options& options) {
  std::vector<std::string> lines;
  for (const Others& others : all) {
    std::string line;
    for (const Holder& holder : others.holders.largest) {
      const ProcessInfo& info = holder.process.info;
      line += fmt::format("{}{} ({}) {}", line.empty() ? "" : ", ", printable(info.comm), info.key.pid,
                          print_size(holder.kib, options.units));
    }
    if (line.empty()) continue;
    lines.push_back(fmt::format("  {}, {}{}:", printable(others.of), print_time(others.at_ms, options.zone),
                                others.holders.means ? " (means of the bucket that holds it)" : ""));
    lines.push_back("    " + line);
  }
  if (!lines.empty()) lines.insert(lines.begin(), {"", "Who else held memory at the moment of the peak (PSS):"});
  return lines;
}

std::string title_of(const PeakQuestion& question) {
  return fmt::format("{}{}, {}", question.all_time ? "all-time peaks" : "peaks",
                     question.group == "process" ? "" : " by " + question.group,
                     question.by == Metric::hwm ? "VmHWM" : metric_title(question.by));
}

}  // namespace

void fill_peaks(const Context& context, const PeakQuestion& question, const Peaks& peaks,
                const std::vector<Others>& others, Report& report) {
  report.title = title_of(question);
  report.facts = {{"group", "", Kind::text, question.group},
                  {"metric", "", Kind::text, std::string(to_string(question.by))},
                  {"all_time", "", Kind::text, question.all_time}};
  report.rows = make_table(
      question.group == "process" ? process_columns(question.range.to_ms) : group_columns(question.group), peaks.rows);
  report.sections = {{"machine", "Machine", make_table(machine_columns(), peaks.machine)}};
  std::vector<PeakRow> categories = peaks.categories;
  const auto room = room_for(context, question, peaks.tier).categories;
  if (room && *room < categories.size()) categories.resize(*room);
  if (question.group != "category") {
    report.sections.push_back({"categories", "Categories (PSS)", make_table(group_columns("category"), categories)});
  }
  report.sections.push_back(other_section(others));
  report.notes = other_lines(others, context.options);
  Cut cut = peaks.cut;
  const std::string metric(question.by == Metric::hwm ? "VmHWM" : metric_title(question.by));
  cut.of = metric;
  note_cut(report, cut, context.options.units);
  if (categories.size() < peaks.categories.size()) {
    report.notes.push_back(fmt::format("{} of {} categories shown (--group category shows all).", categories.size(),
                                       peaks.categories.size()));
  }
  if (peaks.means)
    report.notes.emplace_back("Rollups do not know the highest sum of such a group: it is the highest mean.");
  tell_tier(peaks.tier, report);
  if (!question.all_time && !context.when.range) {
    report.notes.push_back(
        fmt::format("By {} the peak is that of the sum over its processes, within the last 24 hours "
                    "of recording: ask for another range with --from, --last or --day.",
                    question.group));
  }
}

}  // namespace memoir::query
