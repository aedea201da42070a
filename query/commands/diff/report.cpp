#include <algorithm>
#include <fmt/format.h>

#include "query/commands/diff/diff.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/process_columns.h"

namespace memoir::query {

namespace {

void add_sizes(Columns<Change>& columns, Metric by) {
  columns.add({"change_kib", "CHANGE", Kind::change}, [by](const Change& row) { return row.change_kib(by); });
  columns.add({"before_kib", "BEFORE", Kind::size, 3}, [by](const Change& row) { return row.was.kib(by); });
  columns.add({"after_kib", "AFTER", Kind::size, 2}, [by](const Change& row) { return row.is.kib(by); });
  columns.add({"what", "WHAT", Kind::text, 4}, [by](const Change& row) { return row.what(by); });
}

Columns<Change> process_columns(Metric by) {
  Columns<Change> columns;
  add_sizes(columns, by);
  const auto info = [](const Change& row) { return &last_seen(row).process->info; };
  add_process(columns, info);
  columns.add(data_column("gone_ms", Kind::time),
              [](const Change& row) { return row.after == nullptr ? row.before->process->exited_ms : Value(); });
  columns.add(data_column("end"), [](const Change& row) {
    const std::string end = ending(*last_seen(row).process);
    return row.after != nullptr || end.empty() ? Value() : end;
  });
  columns.add(data_column("source_before"),
              [](const Change& row) { return row.before == nullptr ? Value() : source_word(*row.before); });
  columns.add({"source", "SOURCE", Kind::text, 8}, [](const Change& row) { return source_word(last_seen(row)); });
  add_owner(columns, info, 9, 7);
  columns.add(display_column("COMMAND"), &Change::name);
  return columns;
}

Columns<Change> group_columns(const std::string& group, Metric by) {
  Columns<Change> columns;
  add_sizes(columns, by);
  columns.add({"processes_before", "PROCS BEFORE", Kind::count, 5},
              [](const Change& row) { return row.was.processes(); });
  columns.add({"processes_after", "PROCS", Kind::count, 1}, [](const Change& row) { return row.is.processes(); });
  columns.add({"exact_percent", "EXACT", Kind::percent, 8}, [](const Change& row) { return row.is.exact_percent(); });
  add_group_name(columns, group);
  return columns;
}

// A part of the machine's memory, before and after.
struct PartRow {
  MachinePart part;
  std::optional<std::int64_t> before;
  std::optional<std::int64_t> after;

  std::int64_t change_kib() const { return after.value_or(0) - before.value_or(0); }
};

std::vector<PartRow> part_rows(const Diff& diff) {
  std::vector<PartRow> rows;
  if (!diff.parts_before || !diff.parts_after) return rows;
  for (std::size_t i = 0; i < diff.parts_before->size(); ++i) {
    const PartRow row{static_cast<MachinePart>(i), (*diff.parts_before)[i], (*diff.parts_after)[i]};
    // Parts that this kernel or machine does not have are left out.
    if (row.before.value_or(0) != 0 || row.after.value_or(0) != 0 || row.part == MachinePart::remainder)
      rows.push_back(row);
  }
  return rows;
}

Section machine_section(const std::vector<PartRow>& rows) {
  const Columns<PartRow> columns{
      {{"change_kib", "CHANGE", Kind::change}, &PartRow::change_kib},
      {{"before_kib", "BEFORE", Kind::size, 1}, &PartRow::before},
      {{"after_kib", "AFTER", Kind::size, 1}, &PartRow::after},
      {data_column("part"), [](const PartRow& row) { return to_string(row.part); }},
      {display_column("PART OF THE MACHINE"), [](const PartRow& row) { return machine_part_title(row.part); }},
  };
  return {"machine", "Parts of the machine's memory, which add up to its total", make_table(columns, rows)};
}

// "used 3.0 GiB to 5.2 GiB (+2.2 GiB)"
std::string from_to(const char* name, std::optional<std::int64_t> before, std::optional<std::int64_t> after,
                    Units units) {
  if (!before || !after) return fmt::format("{} unknown", name);
  if (*before == *after) return fmt::format("{} {} as before", name, format_size(*after, units));
  return fmt::format("{} {} to {} ({})", name, format_size(*before, units), format_size(*after, units),
                     format_change(*after - *before, units));
}

std::string lead_of(const Diff& diff, Units units) {
  const MachineMemory& before = diff.before.machine.memory;
  const MachineMemory& after = diff.after.machine.memory;
  const auto total = after.get(MachineField::mem_total);
  return fmt::format(
      "Machine: {}{}; {}; {}.", from_to("used", used_kib(before), used_kib(after), units),
      total ? " of " + format_size(*total, units) : "",
      from_to("available", before.get(MachineField::mem_available), after.get(MachineField::mem_available), units),
      from_to("swap", swap_used_kib(before), swap_used_kib(after), units));
}

// Number of rows of each kind, and their total change.
struct Kinds {
  struct Sum {
    std::string_view what;
    std::int64_t rows = 0;
    std::int64_t kib = 0;
  };
  std::array<Sum, 4> sums{{{"new"}, {"gone"}, {"grown"}, {"shrunk"}}};

  Kinds(const Diff& diff, Metric by) {
    for (const Change& row : diff.rows) {
      Sum& sum = *std::ranges::find(sums, row.what(by), &Sum::what);
      ++sum.rows;
      sum.kib += row.change_kib(by);
    }
  }
  std::int64_t total_kib() const {
    std::int64_t total = 0;
    for (const Sum& sum : sums) total += sum.kib;
    return total;
  }
};

void add_totals(const DiffQuery& question, const Diff& diff, const Kinds& kinds, Report& report) {
  for (const Kinds::Sum& sum : kinds.sums) {
    report.totals.push_back({std::string(sum.what), "", Kind::count, sum.rows});
    report.totals.push_back({fmt::format("{}_kib", sum.what), "", Kind::change, sum.kib});
  }
  const auto machine = [&](const char* name, auto value) {
    report.totals.push_back({fmt::format("{}_before_kib", name), "", Kind::size, value(diff.before)});
    report.totals.push_back({fmt::format("{}_after_kib", name), "", Kind::size, value(diff.after)});
  };
  report.totals.push_back({"unchanged", "", Kind::count, diff.unchanged});
  report.totals.push_back({"change_kib", "", Kind::change, kinds.total_kib()});
  report.totals.push_back({"others_kib", "", Kind::change, diff.others_kib});
  report.totals.push_back({"short_lived_kib", "", Kind::change, diff.short_lived_kib});
  report.totals.push_back({"exact_percent_before", "", Kind::percent, diff.was.exact_percent()});
  report.totals.push_back({"exact_percent_after", "", Kind::percent, diff.is.exact_percent()});
  report.totals.push_back({"came_and_went", "", Kind::count, diff.in_between});
  machine("machine_total", [](const State& at) { return at.machine.memory.get(MachineField::mem_total); });
  machine("machine_used", [](const State& at) { return used_kib(at.machine.memory); });
  machine("machine_available", [](const State& at) { return at.machine.memory.get(MachineField::mem_available); });
  machine("machine_swap_used", [](const State& at) { return swap_used_kib(at.machine.memory); });
  report.facts = {{"before_ms", "", Kind::time, diff.before.at_ms},
                  {"after_ms", "", Kind::time, diff.after.at_ms},
                  {"group", "", Kind::text, question.group},
                  {"metric", "", Kind::text, std::string(to_string(question.by))}};
}

std::string exact_note(const Diff& diff, Metric by) {
  const auto before = diff.was.exact_percent();
  const auto after = diff.is.exact_percent();
  if (by != Metric::pss || !before || !after) return "";
  return fmt::format("; {} of it exact or held before, {} after", format_exact_percent(*before),
                     format_exact_percent(*after));
}

void add_notes(const DiffQuery& question, const Diff& diff, const Kinds& kinds, Units units, Report& report) {
  std::string line;
  for (const Kinds::Sum& sum : kinds.sums) {
    line += fmt::format("{} {}{}, ", sum.rows, sum.what,
                        sum.rows > 0 ? fmt::format(" ({})", format_change(sum.kib, units)) : "");
  }
  report.notes.push_back(fmt::format("{}{} unchanged: {} of {} together{}.", line, diff.unchanged,
                                     format_change(kinds.total_kib(), units), metric_title(question.by),
                                     exact_note(diff, question.by)));
  if (!question.filter.takes_all()) {
    report.notes.push_back(
        fmt::format("The processes left out by --filter changed by {}.", format_change(diff.others_kib, units)));
  }
  if (diff.in_between.value_or(0) > 0) {
    report.notes.push_back(fmt::format("{} started and exited in between (memoir peaks shows their peaks).",
                                       format_count(*diff.in_between, "process", "processes")));
  }
  if (diff.before.run.boot.boot_id != diff.after.run.boot.boot_id) {
    report.notes.emplace_back("The machine was rebooted in between: all processes are new.");
  }
}

void cut_rows(const Context& context, const DiffQuery& question, std::size_t machine_lines, Report& report,
              std::vector<Change>& rows) {
  constexpr std::size_t lead_lines = 2;
  const std::size_t all = rows.size();
  const std::size_t shown = limited(context, all, lead_lines + machine_lines);
  std::int64_t rest_kib = 0;
  for (std::size_t i = shown; i < all; ++i) rest_kib += rows[i].change_kib(question.by);
  rows.resize(shown);
  add_row_totals(report, all, shown);
  report.totals.push_back({"cut_kib", "", Kind::change, rest_kib});
  if (all == shown) return;
  note_left_out(report, fmt::format("{} of {} changes; the other {} add up to {} (--limit 0 shows all).", shown, all,
                                    all - shown, format_change(rest_kib, context.options.units)));
}

}  // namespace

Columns<Change> diff_columns(const DiffQuery& question) {
  return question.group == "process" ? process_columns(question.by) : group_columns(question.group, question.by);
}

void fill_diff(const Context& context, const DiffQuery& question, const Diff& diff, Report& report) {
  const Units units = context.options.units;
  const Kinds kinds(diff, question.by);
  report.title = fmt::format("what changed, by {} ({})", question.group, metric_title(question.by));
  report.lead = lead_of(diff, units);
  add_totals(question, diff, kinds, report);
  add_notes(question, diff, kinds, units, report);
  const std::string short_lived = diff.short_lived_kib == 0 ? ""
                                                            : fmt::format("; their change of {} is in no row",
                                                                          format_change(diff.short_lived_kib, units));
  report_states(diff.before, diff.after, short_lived, context.options.zone, report);
  const std::vector<PartRow> parts = part_rows(diff);
  if (parts.empty()) report.warnings.emplace_back("the machine's parts are not known: MemTotal or MemFree is missing");
  std::vector<Change> rows = diff.rows;
  cut_rows(context, question, parts.size(), report, rows);
  report.rows = make_table(diff_columns(question), rows);
  mark_sorted(report.rows, "change_kib");
  report.sections = {machine_section(parts)};
}

}  // namespace memoir::query
