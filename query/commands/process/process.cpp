#include "query/commands/process/process.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "model/container.h"
#include "query/args/times.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/names/name_lookup.h"
#include "query/names/owners.h"
#include "query/render/shell_text.h"
#include "query/state/process_columns.h"
#include "store/exits.h"
#include "store/mappings.h"
#include "store/names.h"

namespace memoir::query {

std::int32_t ProcessPage::parent_pid() const {
  return sample() != nullptr ? sample()->parent_pid : process.info.parent_pid;
}

std::int64_t ProcessPage::exited_ms() const {
  return exit ? exit->exited_ms : process.exited_ms.value_or(process.last_ms);
}

namespace {

constexpr std::int64_t kSlots = 12;  // number of intervals in the history

auto life_of(const StoredProcess& process) {
  return std::tuple(process.boot_id, process.info.key.start_ticks);
}

// Returns the single process with that name at the queried time.
Result<Subject> only_process(const Context& context, const State& state) {
  const std::set<std::int64_t> ids = TRY(subject_ids(context, state));
  std::vector<const ProcessUse*> found;
  for (const ProcessUse& held : state.processes) {
    if (ids.contains(held.process->id)) found.push_back(&held);
  }
  const auto pid = [](const ProcessUse* held) { return held->process->info.key.pid; };
  if (found.size() == 1) return parse_subject(std::to_string(pid(found.front())), context.now_ms, context.options.zone);
  std::ranges::stable_sort(found, std::greater(), [](const ProcessUse* held) { return held->kib[Metric::pss]; });
  const Columns<const ProcessUse*> columns{
      {{"", "PSS", Kind::size}, [](const ProcessUse* held) { return held->kib[Metric::pss]; }},
      {{"", "COMMAND"}, [](const ProcessUse* held) { return shown_command(held->process->info, '?'); }},
      {{"", "SUBJECT"}, [pid](const ProcessUse* held) { return std::to_string(pid(held)); }},
  };
  return ambiguous(context, context.options.subjects.front(), make_table(columns, found));
}

// Returns the process with the highest PSS, the default; nullopt if nothing was recorded.
Result<std::optional<Subject>> largest_process(const Context& context) {
  const std::optional<State> state = TRY(load_state(context));
  if (!state || state->processes.empty()) return std::optional<Subject>();
  const auto largest =
      std::ranges::max_element(state->processes, {}, [](const ProcessUse& held) { return held.kib[Metric::pss]; });
  const std::string pid = std::to_string(largest->process->info.key.pid);
  return std::optional(TRY(parse_subject(pid, context.now_ms, context.options.zone)));
}

Result<std::optional<Subject>> asked_process(const Context& context) {
  if (context.options.subjects.empty()) return largest_process(context);
  Subject subject = TRY(parse_subject(context.options.subjects.front(), context.now_ms, context.options.zone));
  if (subject.kind == Subject::Kind::machine)
    return malformed("memoir process shows one process; memoir memory shows the machine");
  if (subject.kind == Subject::Kind::process) return std::optional(std::move(subject));
  const std::optional<State> state = TRY(load_state(context));
  if (!state) return std::optional<Subject>();
  return std::optional(TRY(only_process(context, *state)));
}

// Finds every image of the process. If several processes had the pid, takes the last that started up to the queried
// time.
Status find_process(const Context& context, const Subject& subject, std::int64_t at_ms, ProcessPage& page) {
  auto found = TRY(load_processes_of_pid(context.reader, {context.file.first_tick_ms, at_ms}, subject.pid));
  if (subject.start_ms || found.empty()) found = TRY(members_of(subject, found, context.options.zone));
  std::ranges::stable_sort(
      found, {}, [](const StoredProcess& image) { return std::tuple(image.first_ms, image.info.key.exec_count); });
  page.process = found.back();
  std::set<decltype(life_of(page.process))> others;
  for (StoredProcess& image : found) {
    if (life_of(image) == life_of(page.process)) {
      page.images.push_back(std::move(image));
    } else if (others.insert(life_of(image)).second) {
      page.other_lives.push_back(fmt::format("{}@{}", subject.pid, image.info.start_ms));
    }
  }
  return Done{};
}

// Loads the state at `at_ms` or, if the process had exited by then, the state when it was last sampled. Returns false
// if nothing was recorded at that time.
Result<bool> find_state(const Context& context, std::int64_t at_ms, ProcessPage& page) {
  const bool is_over = page.process.exited_ms && *page.process.exited_ms <= at_ms;
  std::optional<State> state = TRY(load_state(context, is_over ? page.process.last_ms : at_ms));
  if (!state) return false;
  page.state = *std::move(state);
  for (const ProcessUse& held : page.state.processes) {
    if (held.process->id == page.process.id) page.use = &held;
  }
  return true;
}

// Loads the history over the last day of the process.
Status find_history(const Context& context, ProcessPage& page) {
  const std::int64_t to_ms = page.state.at_ms;
  const Range range{std::max({page.process.first_ms, to_ms - kDayMs, context.file.first_tick_ms}), to_ms};
  if (range.to_ms <= range.from_ms) return Done{};
  page.tier = TRY(tier_of(context, range, Reads::process));
  std::map<Metric, std::vector<Interval>> series{{Metric::pss, {}}, {Metric::rss, {}}, {Metric::swap, {}}};
  TRY(context.reader.history({page.tier, SubjectKind::process, page.process.id, range, keys_of(series)},
                             [&](const SubjectInterval& of) { series[of.metric].push_back(of.interval); }));
  const auto highest = [](const SpanStats& of) { return of.highest ? std::optional(of.highest->value) : std::nullopt; };
  const std::int64_t length = range.to_ms - range.from_ms;
  for (std::int64_t slot = 0; slot < kSlots; ++slot) {
    const std::int64_t from = range.from_ms + length * slot / kSlots;
    const std::int64_t until = range.from_ms + length * (slot + 1) / kSlots;
    if (from == until) continue;
    const SpanStats pss = span_stats_of(series[Metric::pss], from, until);
    const SpanStats rss = span_stats_of(series[Metric::rss], from, until);
    const SpanStats swap = span_stats_of(series[Metric::swap], from, until);
    page.history.push_back({from, until, rss.covered_ms, pss.mean, highest(pss), highest(rss), swap.mean});
  }
  return Done{};
}

Status find_mappings(const Context& context, ProcessPage& page) {
  const StoredTick* const tick = tick_of(page.state);
  if (tick == nullptr) return Done{};
  std::vector<MappingsAt> summaries = TRY(load_summaries(context.reader, tick->id, page.process.id));
  if (!summaries.empty()) page.mappings = std::move(summaries.front().summary);
  return Done{};
}

Status find_container(const Context& context, ProcessPage& page) {
  page.container = container_of(page.process.info.cgroup);
  if (page.container.empty()) return Done{};
  const auto names = TRY(container_names(context.reader));
  const auto name = names.find(page.container);
  if (name != names.end()) page.container += fmt::format(" ({})", name->second);
  return Done{};
}

Result<Report> show_process(const Context& context) {
  if (context.file.ticks == 0) return empty_process_report(context);
  const std::int64_t at_ms = context.when.at_ms.value_or(context.file.last_tick_ms);
  if (at_ms < context.file.first_tick_ms) return empty_process_report(context);
  const std::optional<Subject> subject = TRY(asked_process(context));
  ProcessPage page;
  if (!subject) return empty_process_report(context);
  TRY(find_process(context, *subject, at_ms, page));
  if (!TRY(find_state(context, at_ms, page))) return empty_process_report(context);
  page.parent = TRY(process_of_pid(context, page.parent_pid(), page.state.at_ms));
  page.exit = TRY(load_exit_of(context.reader, page.process.id));
  page.marks = TRY(context.reader.marks_of_process(page.process.id));
  TRY(find_history(context, page));
  TRY(find_mappings(context, page));
  TRY(find_container(context, page));
  return process_report(context, page);
}

}  // namespace

Command process_command() {
  return {.name = "process",
          .summary = "one process: all values with source and age, history and exit",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::tier},
          .examples = {{"memoir process 812 --at 03:14", "process 812 as it was at 03:14"},
                       {"memoir process nginx.service --format json", "the only process of a unit, for a script"}},
          .run = show_process,
          .subject_help = fmt::format(
              "SUBJECT: a process, or a name that only one process has at that time: {}; by default the one "
              "with the highest PSS",
              kSubjectForms),
          .subject_words = {std::string(kCategoryNames)}};
}

}  // namespace memoir::query
