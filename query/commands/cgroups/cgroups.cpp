// memoir cgroups: usage and limits of cgroups at one time. The kernel counts the usage, which includes page cache and
// kernel memory.

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/identity.h"
#include "query/args/subject.h"
#include "query/history/marks.h"
#include "query/names/name_lookup.h"
#include "query/state/cgroup_rows.h"
#include "query/state/command.h"
#include "query/state/limit.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

struct CgroupRank {
  std::string_view by;
  std::string_view column;
  std::string_view title;
  std::optional<double> (*value)(const CgroupRow&);
};

using Maybe = std::optional<std::int64_t>;

constexpr std::int64_t kUsPerMs = 1000;

template <Maybe CgroupSample::*member>
Maybe held(const CgroupRow& row) {
  return row.now ? (*row.now).*member : std::nullopt;
}

Maybe usage(const CgroupRow& row) {
  return row.now ? std::optional(row.now->current_kib) : std::nullopt;
}

Maybe limit(const CgroupRow& row) {
  const Maybe max = held<&CgroupSample::max_kib>(row);
  return max ? max : held<&CgroupSample::high_kib>(row);
}

// cgroup v1 counts only the kills in the cgroup itself, without its descendants.
Maybe kills(const CgroupRow& row) {
  return row.detail.oom_kills ? row.detail.oom_kills : row.detail.own_oom_kills;
}

template <std::optional<HighWater> CgroupRow::*mark>
Maybe mark_kib(const CgroupRow& row) {
  return row.*mark ? std::optional((row.*mark)->value_kib) : std::nullopt;
}

template <Maybe (*get)(const CgroupRow&)>
std::optional<double> number(const CgroupRow& row) {
  const Maybe value = get(row);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

// The peak is read less often than the usage, and may be lower.
Maybe peak(const CgroupRow& row) {
  return row.detail.peak_kib ? std::max(row.detail.peak_kib, usage(row)) : std::nullopt;
}

constexpr std::array kRanks{
    CgroupRank{"usage", "usage_kib", "usage", number<usage>},
    CgroupRank{"anon", "anon_kib", "anonymous memory", number<held<&CgroupSample::anon_kib>>},
    CgroupRank{"file", "file_kib", "page cache", number<held<&CgroupSample::file_kib>>},
    CgroupRank{"shmem", "shmem_kib", "shared memory", number<held<&CgroupSample::shmem_kib>>},
    CgroupRank{"kernel", "kernel_kib", "kernel memory", number<held<&CgroupSample::kernel_kib>>},
    CgroupRank{"swap", "swap_kib", "swap", number<held<&CgroupSample::swap_kib>>},
    CgroupRank{"limit", "limit_percent", "share of the limit",
               [](const CgroupRow& row) { return row.limit_percent(); }},
    CgroupRank{"peak", "peak_kib", "peak", number<peak>},
    CgroupRank{"kills", "oom_kills", "OOM kills", number<kills>},
};

// Ranks in a rollup bucket, which has the marks of the day but not the kernel's counts.
constexpr std::array kMarkRanks{
    CgroupRank{"usage", "usage_mark_kib", "highest usage of the day", number<mark_kib<&CgroupRow::usage_mark>>},
    CgroupRank{"anon", "anon_mark_kib", "highest anonymous memory of the day", number<mark_kib<&CgroupRow::anon_mark>>},
};

// Returns a human-readable name: the unit, the container's name, or else the path.
std::string cgroup_title(const CgroupRow& row) {
  std::string place = place_of(row.path);
  const std::string label = container_label(row.container);
  if (label.empty() || row.container.name.empty() || !place.starts_with(label)) return place;
  const std::string& pod = row.container.pod;
  const std::string name = pod.empty() ? row.container.name : pod + "/" + row.container.name;
  return fmt::format("{} ({}){}", name, label, place.substr(label.size()));
}

void add_names(Columns<CgroupRow>& columns) {
  columns.add(data_column("cgroup"), &CgroupRow::path);
  columns.add(data_column("unit"), [](const CgroupRow& row) { return unit_of(row.path); });
  columns.add(data_column("slice"), [](const CgroupRow& row) { return slice_of(row.path); });
  const auto add = [&columns](const char* name, std::string Container::*member) {
    columns.add(data_column(name), [member](const CgroupRow& row) { return row.container.*member; });
  };
  add("container_runtime", &Container::runtime);
  add("container_id", &Container::key);
  add("container_name", &Container::name);
  add("container_image", &Container::image);
  add("pod", &Container::pod);
  add("pod_uid", &Container::pod_uid);
  columns.add(display_column("CGROUP"), cgroup_title);
}

void add_marks(Columns<CgroupRow>& columns, bool counted) {
  const auto add = [&columns](const std::string& name, std::optional<HighWater> CgroupRow::*mark) {
    const auto part = [mark](auto HighWater::*member) {
      return [mark, member](const CgroupRow& row) { return row.*mark ? Value((*(row.*mark)).*member) : Value(); };
    };
    columns.add(data_column(name + "_at_ms", Kind::time), part(&HighWater::at_ms));
    columns.add(data_column(name + "_before_ms", Kind::time), part(&HighWater::before_ms));
    columns.add(data_column(name + "_seen_by"), [mark](const CgroupRow& row) {
      return seen_by_value(row.*mark ? (row.*mark)->seen_by : std::nullopt);
    });
  };
  columns.add({"usage_mark_kib", "MAX USAGE", Kind::size, counted ? 10 : 0}, mark_kib<&CgroupRow::usage_mark>);
  add("usage_mark", &CgroupRow::usage_mark);
  columns.add({"anon_mark_kib", "MAX ANON", Kind::size, counted ? 7 : 1}, mark_kib<&CgroupRow::anon_mark>);
  add("anon_mark", &CgroupRow::anon_mark);
  columns.add(data_column("swap_mark_kib", Kind::size), mark_kib<&CgroupRow::swap_mark>);
  add("swap_mark", &CgroupRow::swap_mark);
}

void add_limits(Columns<CgroupRow>& columns) {
  columns.add(display_column("LIMIT", Kind::size, 2), limit);
  columns.add({"limit_percent", "USED", Kind::percent, 3}, &CgroupRow::limit_percent);
  columns.add(data_column("max_kib", Kind::size), held<&CgroupSample::max_kib>);
  columns.add(data_column("high_kib", Kind::size), held<&CgroupSample::high_kib>);
  columns.add(data_column("swap_max_kib", Kind::size), held<&CgroupSample::swap_max_kib>);
  columns.add(data_column("low_kib", Kind::size), [](const CgroupRow& row) { return row.detail.low_kib; });
  columns.add(data_column("min_kib", Kind::size), [](const CgroupRow& row) { return row.detail.min_kib; });
}

void add_counters(Columns<CgroupRow>& columns) {
  const auto add = [&columns](Column column, Maybe CgroupDetail::*member) {
    columns.add(std::move(column), [member](const CgroupRow& row) { return row.detail.*member; });
  };
  columns.add({"peak_kib", "PEAK", Kind::size, 4}, peak);
  add(data_column("swap_peak_kib", Kind::size), &CgroupDetail::swap_peak_kib);
  columns.add({"oom_kills", "OOM KILLS", Kind::count, 8}, kills);
  add(data_column("own_oom_kills", Kind::count), &CgroupDetail::own_oom_kills);
  add(data_column("oom_events", Kind::count), &CgroupDetail::oom_events);
  add({"max_events", "AT MAX", Kind::count, 9}, &CgroupDetail::max_events);
  add(data_column("high_events", Kind::count), &CgroupDetail::high_events);
  add(data_column("low_events", Kind::count), &CgroupDetail::low_events);
  const auto waited = [&columns](Column column, Maybe CgroupDetail::*member) {
    columns.add(std::move(column), [member](const CgroupRow& row) {
      const Maybe us = row.detail.*member;
      return us ? std::optional(*us / kUsPerMs) : std::nullopt;
    });
  };
  waited({"psi_some_total_ms", "WAITED", Kind::duration, 12}, &CgroupDetail::psi_some_total_us);
  waited(data_column("psi_full_total_ms", Kind::duration), &CgroupDetail::psi_full_total_us);
}

void add_processes(Columns<CgroupRow>& columns, bool counted) {
  columns.add({"processes", "PROCS", Kind::count, 11}, [](const CgroupRow& row) { return row.processes.processes(); });
  const auto add = [&](Metric metric, const char* header, int drop_order) {
    Column column{fmt::format("processes_{}", info_of(metric).column), header, Kind::size, drop_order};
    if (counted) column.shown = Shown::machines;
    columns.add(std::move(column), [metric](const CgroupRow& row) { return row.processes.kib(metric); });
  };
  add(Metric::pss, "PSS", 2);
  add(Metric::anon, "ANON", 3);
  add(Metric::swap, "SWAP", 4);
}

const CgroupRank& cgroup_rank(std::string_view by, bool counted) {
  if (!counted) return kMarkRanks[by == "anon" ? 1 : 0];
  const auto* const found = std::ranges::find(kRanks, by, &CgroupRank::by);
  return found == kRanks.end() ? kRanks.front() : *found;
}

std::vector<std::string> cgroup_ranks() {
  return transformed(kRanks, [](const CgroupRank& rank) { return std::string(rank.by); });
}

Columns<CgroupRow> cgroup_columns(bool counted) {
  Columns<CgroupRow> columns;
  if (counted) {
    columns.add({"usage_kib", "USAGE", Kind::size}, usage);
    columns.add({"anon_kib", "ANON", Kind::size, 1}, held<&CgroupSample::anon_kib>);
    columns.add({"file_kib", "FILE", Kind::size, 5}, held<&CgroupSample::file_kib>);
    columns.add(data_column("shmem_kib", Kind::size), held<&CgroupSample::shmem_kib>);
    columns.add({"kernel_kib", "KERNEL", Kind::size, 8}, held<&CgroupSample::kernel_kib>);
    columns.add({"swap_kib", "SWAP", Kind::size, 6}, held<&CgroupSample::swap_kib>);
    add_limits(columns);
    add_counters(columns);
  }
  add_marks(columns, counted);
  add_processes(columns, counted);
  add_names(columns);
  return columns;
}

// Keeps the cgroups of the subject's processes. For a cgroup given by its path, keeps all descendants, with or without
// processes.
Status leave_asked_for(const Context& context, const State& state, std::vector<CgroupRow>& rows) {
  if (context.options.subjects.empty()) return Done{};
  const auto processes = transformed(state.processes, [](const ProcessUse& held) { return *held.process; });
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
  return Error{ErrorKind::not_found,
               fmt::format("no cgroup with recorded memory at that time matches {}", subject.name)};
}

std::string printed(const State& state, Zone zone) {
  return format_time(state.at_ms, zone);
}

void note_marks(const State& state, Zone zone, Report& report) {
  report.notes.push_back(
      fmt::format("The kernel's counters at {} have expired. Usage is the maximum of that UTC day. Values of processes "
                  "are sums over the processes directly in each cgroup, as means.",
                  printed(state, zone)));
}

Report none_recorded(const Context& context, const State& state, const Columns<CgroupRow>& columns) {
  return nothing_recorded(context, columns,
                          fmt::format("no cgroup was recorded at {}: no process was in one with a memory controller",
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
  return {.name = "cgroups",
          .summary = "kernel-counted usage and limits of cgroups",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::by, Option::tier, Option::limit},
          .by = cgroup_ranks(),
          .examples = {{"memoir cgroups --at 03:14 --by limit", "which service was nearest to its limit at 03:14"},
                       {"memoir cgroups cgroup:/docker", "what each container uses"}},
          .run = show_cgroups,
          .subject_help = fmt::format(
              "SUBJECT: show the cgroups of {}; cgroup:PATH includes all below it; default: all", kSubjectForms),
          .subject_words = {std::string(kCategoryNames)}};
}

}  // namespace memoir::query
