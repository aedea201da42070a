#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "model/cgroup.h"
#include "model/identity.h"
#include "query/commands/process/process.h"
#include "query/history/exits.h"
#include "query/history/marks.h"
#include "query/history/tier.h"
#include "query/names/owners.h"
#include "query/report/format.h"
#include "query/state/mapping_summaries.h"
#include "query/state/process_columns.h"
#include "query/state/total.h"

namespace memoir::query {
namespace {

constexpr std::size_t kMaxChildren = 10;
constexpr std::size_t kMaxMappings = 10;

struct FieldRow {
  std::string key;     // the kernel's name
  std::string column;  // the name in the views
  std::string_view file;
  std::optional<std::int64_t> kib;
  std::string_view source;
  std::optional<std::int64_t> age_ms;
};

std::string_view file_name(ProcessFile file) {
  constexpr std::array names{std::string_view("smaps_rollup"), std::string_view("status"), std::string_view("smaps")};
  return names.at(static_cast<std::size_t>(file));
}

// The age of a status field is known only with BPF: the census by /proc does not read every field at each tick.
FieldRow field_row(const ProcessFieldInfo& info, const ProcessPage& page, const ProcessSample& of) {
  FieldRow row{
      std::string(info.key), std::string(info.column), file_name(info.file), of.memory.get(info.field), {}, {}};
  if (!row.kib) return row;
  const bool is_rollup = info.file == ProcessFile::smaps_rollup;
  row.source = to_string(is_rollup ? of.source : Source::exact);
  if (is_rollup) row.age_ms = page.use->age_ms;
  if (info.file == ProcessFile::status && page.state.run.census == "bpf") row.age_ms = 0;
  return row;
}

// A bucket has means of the rolled-up metrics.
std::vector<FieldRow> field_rows(const ProcessPage& page) {
  if (page.use == nullptr) return {};
  if (const ProcessSample* const of = page.sample())
    return transformed(kProcessFields, [&](const ProcessFieldInfo& info) { return field_row(info, page, *of); });
  return transformed(kRolledMetrics, [&page](Metric metric) {
    const MetricInfo& info = info_of(metric);
    return FieldRow{std::string(info.title), std::string(info.column), "", page.use->kib[metric], "mean", {}};
  });
}

const Columns<FieldRow>& field_columns() {
  static const Columns<FieldRow> columns{
      {{"field", "FIELD"}, [](const FieldRow& row) { return row.key; }},
      {data_column("column"), [](const FieldRow& row) { return row.column; }},
      {{"kib", "VALUE", Kind::size}, &FieldRow::kib},
      {{"source", "SOURCE", Kind::text, 1},
       [](const FieldRow& row) { return row.source.empty() ? Value() : row.source; }},
      {{"age_ms", "AGE", Kind::duration}, &FieldRow::age_ms},
      {{"file", "FILE", Kind::text, 2}, [](const FieldRow& row) { return row.file.empty() ? Value() : row.file; }},
  };
  return columns;
}

std::string state_word(char state) {
  constexpr std::array words{
      std::pair('R', "running"), std::pair('S', "sleeping"),     std::pair('D', "waiting for I/O"),
      std::pair('Z', "zombie"),  std::pair('T', "stopped"),      std::pair('t', "traced"),
      std::pair('X', "dead"),    std::pair('I', "idle (kernel)")};
  const auto* const found = std::ranges::find(words, state, &std::pair<char, const char*>::first);
  return found == words.end() ? std::string(1, state) : fmt::format("{} ({})", state, found->second);
}

std::string exit_words(const ProcessPage& page, Zone zone) {
  if (page.process.exit_kind == "execed") return "it runs another program now";
  const std::string at = format_time(page.exited_ms(), zone);
  if (!page.exit) return fmt::format("{} by {}; the exit status is unknown", ending(page.process), at);
  return fmt::format("{} at {}", format_exit_status(page.exit->exit_code), at);
}

void add_identity(const ProcessPage& page, std::vector<Field>& facts) {
  const ProcessInfo& info = page.process.info;
  const auto text = [&facts](const char* name, const char* label, const std::string& value) {
    facts.push_back({name, label, Kind::text, value.empty() ? Value() : Value(value)});
  };
  facts.push_back({"pid", "", Kind::count, info.key.pid});
  text("comm", "Name", info.comm);
  text("command", "Command", info.command);
  text("exe", "Program", info.exe);
  facts.push_back({"uid", "", Kind::count, std::int64_t{info.uid}});
  text("user", "User", info.user);
  const ProcessSettings& settings = info.settings;
  text("cwd", "Directory", info.cwd);
  text("cwd_now", settings.cwd == info.cwd ? "" : "Directory later", settings.cwd);
  text("cgroup", "Cgroup", info.cgroup);
  text("unit", "Unit", page.process.unit);
  text("slice", "Slice", slice_of(info.cgroup));
  text("container", "Container", page.container);
  text("category", "Category", info.category);
  text("category_rule", settings.category_rule.empty() ? "" : "Category by", settings.category_rule);
  text("identity", "Identity", page.process.identity);
  facts.push_back({"oom_score_adj", "OOM score adj", Kind::count, settings.oom_score_adj});
}

void add_lifetime(const ProcessPage& page, Zone zone, std::vector<Field>& facts) {
  const ProcessInfo& info = page.process.info;
  const std::int64_t end_ms = page.has_exited() ? page.exited_ms() : page.state.at_ms;
  facts.push_back({"start_ms", "Started", Kind::time, info.start_ms});
  facts.push_back({"lifetime_ms", page.has_exited() ? "Ran for" : "Running for", Kind::duration,
                   page.exit ? page.exit->lived_ms : std::max<std::int64_t>(end_ms - info.start_ms, 0)});
  facts.push_back({"first_ms", "", Kind::time, page.process.first_ms});
  facts.push_back({"last_ms", "Last sampled", Kind::time, page.process.last_ms});
  facts.push_back({"exited_ms", "", Kind::time, page.has_exited() ? page.exited_ms() : Value()});
  facts.push_back({"exit", page.has_exited() ? "Exit" : "", Kind::text,
                   page.has_exited() ? Value(exit_words(page, zone)) : Value()});
  facts.push_back({"exit_kind", "", Kind::text, page.has_exited() ? Value(ending(page.process)) : Value()});
  facts.push_back({"exit_code", "", Kind::count, page.exit ? Value(std::int64_t{page.exit->exit_code}) : Value()});
  const auto held = page.exit ? page.exit->held : std::nullopt;
  facts.push_back(
      {"exit_peak_kib", page.exit ? "Peak at exit" : "", Kind::size, page.exit ? Value(page.exit->peak_kib) : Value()});
  for (const auto& [name, of] : {std::pair{"exit_anon_kib", &MemoryAtExit::anon_kib},
                                 {"exit_file_kib", &MemoryAtExit::file_kib},
                                 {"exit_shmem_kib", &MemoryAtExit::shmem_kib},
                                 {"exit_swap_kib", &MemoryAtExit::swap_kib}})
    facts.push_back({name, "", Kind::size, held ? Value((*held).*of) : Value()});
}

void add_run(const ProcessPage& page, std::vector<Field>& facts) {
  const ProcessSample* const of = page.sample();
  const std::int32_t parent = page.parent_pid();
  facts.push_back({"state", "State", Kind::text, of != nullptr ? Value(state_word(of->state)) : Value()});
  facts.push_back({"threads", "Threads", Kind::count, of != nullptr ? Value(std::int64_t{of->threads}) : Value()});
  facts.push_back({"parent_pid", "", Kind::count, std::int64_t{parent}});
  facts.push_back({"parent", "Parent", Kind::text, process_label(parent, page.parent)});
  facts.push_back({"source", "Source", Kind::text, page.use != nullptr ? Value(source_word(*page.use)) : Value()});
  facts.push_back({"age_ms", "", Kind::duration, page.use != nullptr ? Value(page.use->age_ms) : Value()});
}

// Parses ProcessSettings::limits: "AS=unlimited:unlimited NOFILE=1024:4096".
Section limits_of(const ProcessSettings& settings, Units units) {
  struct Limit {
    std::string name;
    std::string soft;
    std::string hard;
    bool bytes = false;
  };
  const auto is_count = [](std::string_view name) { return name == "NPROC" || name == "NOFILE"; };
  std::vector<Limit> limits;
  for (std::string_view left = settings.limits; !left.empty();) {
    std::string_view values = cut_word(left);
    const std::string_view name = cut(values, '=');
    const std::string_view soft = cut(values, ':');
    limits.push_back({std::string(name), std::string(soft), std::string(values), !is_count(name)});
  }
  const auto shown = [units](const std::string& value, bool bytes) -> Value {
    const auto number = parse_number<std::int64_t>(value);
    return bytes && number ? format_size(*number / 1024, units) : value;
  };
  const Columns<Limit> columns{
      {{"limit", "LIMIT"}, &Limit::name},
      {display_column("SOFT"), [shown](const Limit& limit) { return shown(limit.soft, limit.bytes); }},
      {display_column("HARD"), [shown](const Limit& limit) { return shown(limit.hard, limit.bytes); }},
      {data_column("soft"), &Limit::soft},
      {data_column("hard"), &Limit::hard},
      {data_column("unit"), [](const Limit& limit) { return limit.bytes ? "bytes" : "count"; }},
  };
  return {"limits", limits.empty() ? "" : "Its resource limits", make_table(columns, limits)};
}

std::string lead_of(const ProcessPage& page, Units units) {
  if (page.use == nullptr) return "It was not sampled at that time.";
  const MetricValues& kib = page.use->kib;
  std::vector<std::string> parts;
  for (const Metric metric : {Metric::rss, Metric::pss, Metric::uss, Metric::swap, Metric::hugetlb}) {
    if (kib[metric] && (metric != Metric::hugetlb || kib[metric] > 0))
      parts.push_back(fmt::format("{} {}", metric_title(metric), format_size(*kib[metric], units)));
  }
  if (parts.empty()) return "Its memory is unknown.";
  std::string line = fmt::format("{}", fmt::join(parts, ", "));
  auto mark = kib[Metric::hwm];
  for (const HighWater& of : page.marks) {
    if (of.metric == Metric::hwm) mark = std::max(mark.value_or(0), of.value_kib);
  }
  if (mark && kib[Metric::rss].value_or(0) > 0)
    line += fmt::format("; its RSS peaked at {}, {:.1f} times that", format_size(*mark, units),
                        static_cast<double>(*mark) / static_cast<double>(*kib[Metric::rss]));
  return line + ".";
}

Table mark_table(const std::vector<HighWater>& marks) {
  Columns<HighWater> columns{
      {{"metric", "MARK"}, [](const HighWater& mark) { return std::string(metric_title(mark.metric)); }},
      {{"value_kib", "VALUE", Kind::size}, &HighWater::value_kib},
  };
  add_reached(columns, [](const HighWater& mark) -> const HighWater& { return mark; }, {1, 2, 3});
  return make_table(columns, marks);
}

Table image_table(const std::vector<StoredProcess>& images) {
  const Columns<StoredProcess> columns{
      {{"first_ms", "FIRST SAMPLED", Kind::time}, &StoredProcess::first_ms},
      {{"exec_count", "EXECS", Kind::count, 2},
       [](const StoredProcess& image) { return std::int64_t{image.info.key.exec_count}; }},
      {{"end", "HOW", Kind::text, 1},
       [](const StoredProcess& image) { return image.exit_kind.empty() ? Value() : ending(image); }},
      {{"category", "CATEGORY", Kind::text, 3}, [](const StoredProcess& image) { return image.info.category; }},
      {data_column("comm"), [](const StoredProcess& image) { return image.info.comm; }},
      {data_column("command"), [](const StoredProcess& image) { return image.info.command; }},
      {display_column("COMMAND"), [](const StoredProcess& image) { return shown_command(image.info, '?'); }},
  };
  return make_table(columns, images);
}

// Returns the children at the tick, the largest PSS first.
Section children_of(const ProcessPage& page) {
  std::vector<const ProcessUse*> children;
  for (const ProcessUse& process : page.state.processes) {
    if (process.sample->parent_pid == page.process.info.key.pid) children.push_back(&process);
  }
  std::ranges::stable_sort(children, std::greater(), [](const ProcessUse* held) { return held->kib[Metric::pss]; });
  Section section{"children", "Children", {}};
  if (children.size() > kMaxChildren) {
    section.left_out.push_back(fmt::format("{} of {} children (memoir tree {} shows all).", kMaxChildren,
                                           children.size(), page.process.info.key.pid));
    section.notes = section.left_out;
    children.resize(kMaxChildren);
  }
  Columns<const ProcessUse*> columns;
  for (const Metric metric : {Metric::pss, Metric::rss, Metric::swap}) {
    const MetricInfo& info = info_of(metric);
    columns.add({std::string(info.column), std::string(info.header), Kind::size},
                [metric](const ProcessUse* held) { return held->kib[metric]; });
  }
  add_process(columns, [](const ProcessUse* held) { return &held->process->info; });
  columns.add(display_column("COMMAND"),
              [](const ProcessUse* held) { return shown_command(held->process->info, state_letter(*held)); });
  section.table = make_table(columns, children);
  return section;
}

// Returns the cgroup and its ancestors, by the kernel's counts.
Section cgroups_of(const ProcessPage& page) {
  std::vector<CgroupSample> above;
  for (const CgroupSample& cgroup : page.state.cgroups.value_or(std::vector<CgroupSample>())) {
    if (is_in_cgroup(page.process.info.cgroup, cgroup.path)) above.push_back(cgroup);
  }
  const Columns<CgroupSample> columns{
      {{"current_kib", "USAGE", Kind::size}, &CgroupSample::current_kib},
      {{"max_kib", "LIMIT", Kind::size}, &CgroupSample::max_kib},
      {{"high_kib", "HIGH", Kind::size, 3}, &CgroupSample::high_kib},
      {{"swap_kib", "SWAP", Kind::size, 1}, &CgroupSample::swap_kib},
      {{"swap_max_kib", "SWAP LIMIT", Kind::size, 2}, &CgroupSample::swap_max_kib},
      {{"cgroup", "CGROUP"}, [](const CgroupSample& cgroup) { return cgroup.path; }},
  };
  return {"cgroups", "Its cgroups", make_table(columns, above)};
}

Section mappings_of(const ProcessPage& page) {
  std::vector<MappingLine> lines =
      page.mappings && page.mappings->read_ms ? mapping_lines(page.mappings->summary) : std::vector<MappingLine>();
  const std::size_t all = lines.size();
  Section section{"mappings", "Its largest mappings", {}};
  if (all > 0)
    section.notes.push_back(
        fmt::format("Read {} earlier.", format_span(summary_age_ms(*page.mappings, page.state).value_or(0))));
  if (all > kMaxMappings) {
    lines.resize(kMaxMappings);
    section.left_out.push_back(fmt::format("{} of {} kinds and names (memoir mappings {} shows all).", kMaxMappings,
                                           all, page.process.info.key.pid));
    section.notes.push_back(section.left_out.back());
  }
  section.table = make_table(mapping_columns(), lines);
  return section;
}

Section history_of(const ProcessPage& page) {
  const Columns<PastUse> columns{
      {{"from_ms", "FROM", Kind::time}, &PastUse::from_ms},
      {data_column("until_ms", Kind::time), &PastUse::until_ms},
      {data_column("covered_ms", Kind::duration), &PastUse::covered_ms},
      {{"pss_mean_kib", "PSS MEAN", Kind::size}, &PastUse::pss_mean_kib},
      {{"pss_max_kib", "PSS MAX", Kind::size}, &PastUse::pss_max_kib},
      {{"rss_max_kib", "RSS MAX", Kind::size}, &PastUse::rss_max_kib},
      {{"swap_mean_kib", "SWAP MEAN", Kind::size}, &PastUse::swap_mean_kib},
  };
  Section section{"history", "Its usage", make_table(columns, page.history)};
  section.notes.push_back(
      fmt::format("memoir trend {}@{} shows more.", page.process.info.key.pid, page.process.info.start_ms));
  return section;
}

}  // namespace

Report empty_process_report(const Context& context) {
  return nothing_recorded(context, field_columns());
}

Result<Report> process_report(const Context& context, const ProcessPage& page) {
  const Options& options = context.options;
  const ProcessInfo& info = page.process.info;
  Report report = TRY(begin_report(context, page.state, fmt::format("process {} ({})", info.key.pid, info.comm)));
  report.lead = lead_of(page, options.units);
  add_identity(page, report.facts);
  add_lifetime(page, options.zone, report.facts);
  add_run(page, report.facts);
  report.rows_title = "\nIts memory";
  report.rows = make_table(field_columns(), field_rows(page));
  report.rows.own_units = true;
  report.sections = {{"marks", "Its high-water marks", mark_table(page.marks)},
                     cgroups_of(page),
                     limits_of(info.settings, options.units)};
  if (tick_of(page.state) != nullptr) report.sections.push_back(children_of(page));
  report.sections.push_back(mappings_of(page));
  report.sections.push_back(history_of(page));
  report.sections.push_back(
      {"images", page.images.size() > 1 ? "The programs that it ran" : "", image_table(page.images)});
  if (!page.other_lives.empty())
    report.notes.push_back(fmt::format("Other processes had this pid before: {}.", fmt::join(page.other_lives, ", ")));
  const std::int64_t approximate = page.use != nullptr && is_approximate(*page.use) ? 1 : 0;
  const std::string why = TRY(approximate_note(context, page.state, approximate));
  if (!why.empty()) report.notes.push_back(why);
  if (page.use == nullptr) report.warnings.emplace_back("no tick of that time has the process");
  report_state(page.state, context.when.at_ms.value_or(page.state.at_ms), options.zone, report);
  return report;
}

}  // namespace memoir::query
