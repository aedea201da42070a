// A digest of several hosts: a line for each file.

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

struct Host {
  std::string name;  // empty: unknown
  std::string file;
  std::string problem = {};  // why there is no summary
  std::optional<DaySummary> summary = {};

  bool notable() const { return !summary || !summary->dull(); }
  std::size_t severe() const {
    const auto is_problem = [](const Concern& of) { return of.tone == Tone::problem; };
    return summary ? static_cast<std::size_t>(std::ranges::count_if(summary->attention, is_problem)) : 0;
  }
};

Status load_host(const Options& options, const Day& day, std::vector<Day> parts, std::int64_t now_ms, Host& host) {
  const std::unique_ptr<Reader> reader = TRY(Reader::open(host.file));
  const FileInfo file = TRY(reader->info());
  std::vector<StoredRun> runs = TRY(reader->runs());
  if (!runs.empty()) host.name = runs.back().boot.host;
  const Context context{options, *reader, file, std::move(runs), now_ms, {}, std::nullopt};
  host.summary = TRY(load_summary(context, day, std::move(parts)));
  if (!host.summary) host.problem = "nothing was recorded";
  return Done{};
}

std::string concern_words(const Host& host) {
  if (!host.summary) return host.problem;
  const std::vector<Concern>& concerns = host.summary->attention;
  if (concerns.empty()) return "nothing needs attention";
  return concerns.size() == 1 ? concerns.front().text
                              : fmt::format("{} (and {} more)", concerns.front().text, concerns.size() - 1);
}

Table host_table(const std::vector<Host>& hosts) {
  const auto of_day = [](auto get) {
    return [get](const Host& host) { return host.summary ? Value(get(host.summary->today())) : Value(); };
  };
  const Columns<Host> columns{
      {{"host", "HOST"}, [](const Host& host) { return host.name.empty() ? host.file : host.name; }},
      {data_column("file"), &Host::file},
      {data_column("notable"), &Host::notable},
      {{"used_mean_kib", "USED", Kind::size, 2}, of_day([](const MachineDay& day) { return day.used.mean; })},
      {{"used_max_kib", "MAX", Kind::size, 1}, of_day([](const MachineDay& day) { return kib_of(day.used.highest); })},
      {{"total_kib", "OF", Kind::size, 3},
       [](const Host& host) { return host.summary ? Value(host.summary->total_kib) : Value(); }},
      {{"oom_kills", "OOM", Kind::count, 1}, of_day([](const MachineDay& day) { return day.oom_kills(); })},
      {data_column("concerns", Kind::count),
       [](const Host& host) { return host.summary ? Value(host.summary->attention.size()) : Value(); }},
      {{"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true}, concern_words}};
  Table table = make_table<Host>(columns, hosts, [](const Host& host) {
    return host.severe() > 0 ? Tone::problem : host.notable() ? Tone::warning : Tone::plain;
  });
  table.own_units = true;
  return table;
}

// Returns the concerns of all hosts, for data formats.
Section concern_section(const std::vector<Host>& hosts) {
  struct Row {
    const Host* host = nullptr;
    const Concern* concern = nullptr;
  };
  std::vector<Row> rows;
  for (const Host& host : hosts) {
    if (!host.summary) continue;
    for (const Concern& concern : host.summary->attention) rows.push_back({&host, &concern});
  }
  const Columns<Row> columns{{data_column("host"), [](const Row& row) { return row.host->name; }},
                             {data_column("kind"), [](const Row& row) { return row.concern->kind; }},
                             {data_column("subject"), [](const Row& row) { return row.concern->subject; }},
                             {data_column("at_ms", Kind::time), [](const Row& row) { return row.concern->at_ms; }},
                             {data_column("text"), [](const Row& row) { return row.concern->text; }}};
  return {"attention", "", make_table(columns, rows)};
}

}  // namespace

Result<Report> summarise_hosts(const Options& options, std::int64_t now_ms) {
  const Day day = TRY(parse_day(options.day.value_or("yesterday"), now_ms, options.zone));
  std::vector<Day> parts;
  if (options.week) parts = week_until(day, options.zone);
  const Day period = parts.empty() ? day : Day{parts.front().begin_ms, day.end_ms};
  std::vector<Host> hosts;
  for (const std::string& file : options.subjects) {
    Host host{"", file};
    const Status loaded = load_host(options, period, parts, now_ms, host);
    if (!loaded) host.problem = loaded.error().message;
    hosts.push_back(std::move(host));
  }
  std::ranges::stable_sort(hosts, std::greater(), [](const Host& host) {
    return std::tuple(host.severe(), host.summary ? host.summary->attention.size() : std::size_t{1});
  });
  const auto notable = std::ranges::count_if(hosts, &Host::notable);
  Report report;
  report.range = Range{period.begin_ms, period.end_ms - 1};
  report.title = fmt::format("{} of {} need attention", notable,
                             format_count(static_cast<std::int64_t>(hosts.size()), "host", "hosts"));
  report.not_notable = options.if_notable && notable == 0;
  if (options.if_notable) std::erase_if(hosts, [](const Host& host) { return !host.notable(); });
  report.nothing_recorded = std::ranges::none_of(hosts, [](const Host& host) { return host.summary.has_value(); });
  report.rows = host_table(hosts);
  report.sections = {concern_section(hosts)};
  report.totals = {{"hosts", "", Kind::count, options.subjects.size()}, {"notable", "", Kind::count, notable}};
  report.width = 80;
  return report;
}

}  // namespace memoir::query
