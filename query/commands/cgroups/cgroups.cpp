#include "query/commands/cgroups/cgroups.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "query/args/subject.h"
#include "query/names/subject_word.h"
#include "query/state/limit.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

// The cgroups that the subject's processes are in; of one with its path all below it too, whether or not a process is
// in it.
Status leave_asked_for(const Context& context, const State& state, std::vector<CgroupRow>& rows) {
  if (context.options.subjects.empty()) return Done{};
  const auto processes = each_of(state.processes, [](const HeldProcess& held) { return *held.process; });
  const std::int64_t at_ms = state.at_ms;
  Subject subject = TRY(parse_subject(context.options.subjects.front(), context.now_ms, context.options.zone));
  if (subject.key != "cgroup" || subject.value.empty())
    subject = TRY(choose_subject(context, std::move(subject), processes, {at_ms, at_ms}));
  if (subject.kind == Subject::Kind::machine) return Done{};
  const bool by_path = subject.key == "cgroup" && !subject.value.empty();
  std::set<std::string> paths;
  if (!by_path) {
    const auto members = TRY(members_of(subject, processes, context.options.zone));
    for (const StoredProcess& process : members) paths.insert(process.info.cgroup);
  }
  std::erase_if(rows, [&](const CgroupRow& row) {
    return by_path ? !is_in_cgroup(row.path, subject.value) : !paths.contains(row.path);
  });
  if (!rows.empty()) return Done{};
  return Error{ErrorKind::gone, fmt::format("no cgroup that held memory then is of {}", subject.name)};
}

std::string printed(const State& state, Zone zone) {
  return print_time(state.at_ms, zone);
}

void note_marks(const State& state, Zone zone, Report& report) {
  report.notes.push_back(fmt::format(
      "What the kernel counts of a cgroup is kept as long as ticks are, and those of {} are gone: these are the\n"
      "highest usage of that UTC day, and means of the sums over the processes in each cgroup itself.",
      printed(state, zone)));
}

Report none_recorded(const Context& context, const State& state, const Columns<CgroupRow>& columns) {
  return nothing_recorded(context, columns,
                          fmt::format("nothing of cgroups was recorded at {}: no process was in one that a memory "
                                      "controller counts",
                                      printed(state, context.options.zone)));
}

Result<Report> show_cgroups(const Context& context) {
  const std::optional<State> loaded = TRY(load_state(context));
  const bool counted = !loaded || loaded->cgroups;
  const auto columns = cgroup_columns(counted);
  if (!loaded) return nothing_recorded(context, columns);
  const State& state = *loaded;
  std::vector<CgroupRow> rows = TRY(load_cgroups(context, state, CgroupMarks::read));
  if (rows.empty()) return none_recorded(context, state, columns);
  TRY(leave_asked_for(context, state, rows));

  const CgroupRank& rank = cgroup_rank(context.options.by.value_or("usage"), counted);
  std::ranges::stable_sort(rows, std::greater(), [&](const CgroupRow& row) { return rank.value(row).value_or(-1); });
  Report report = TRY(begin_report(context, state, fmt::format("cgroups, ranked by {}", rank.title)));
  const auto usage = [](const CgroupRow& row) {
    const auto mark = row.usage_mark ? std::optional(row.usage_mark->value_kib) : std::nullopt;
    return row.now ? std::optional(row.now->current_kib) : mark;
  };
  limit_rows(rows, report, context, usage, {.of = "usage", .adds_up = false});
  report.rows = make_table<CgroupRow>(columns, rows, [](const CgroupRow& row) {
    constexpr double near_percent = 90;
    return row.limit_percent().value_or(0) >= near_percent ? Tone::warning : Tone::plain;
  });
  mark_sorted(report.rows, rank.column);
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  if (!counted) note_marks(state, context.options.zone, report);
  return report;
}

}  // namespace

Command cgroups_command() {
  return {
      .name = "cgroups",
      .summary = "what services, containers and slices held by the kernel's own count, and their limits",
      .subject = "[SUBJECT]",
      .options = {Option::at, Option::by, Option::tier, Option::limit},
      .by = cgroup_ranks(),
      .examples = {{"memoir cgroups --at 03:14 --by limit", "which service was nearest to its limit at 03:14"},
                   {"memoir cgroups cgroup:/docker", "what each container holds"}},
      .run = show_cgroups,
      .subject_help = fmt::format(
          "SUBJECT: whose cgroups are shown: {}; cgroup:PATH takes all below it, too; by default all", kSubjectForms),
      .subject_words = {std::string(kCategoryNames)}};
}

}  // namespace memoir::query
