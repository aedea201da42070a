#include "query/names/subject_word.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>

#include "base/nearest.h"
#include "base/text.h"
#include "model/metric.h"
#include "query/render/render.h"
#include "query/render/shell_text.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

constexpr std::array kKeys{"category", "unit", "cgroup", "identity", "exe", "comm", "user"};
constexpr std::size_t kMostShown = 20;
constexpr std::size_t kMostPids = 3;

// What else a value of that key is called.
std::string_view short_name(std::string_view key, std::string_view value) {
  if (key == "unit") return value.substr(0, value.rfind('.'));
  if (key == "cgroup" || key == "exe") return value.substr(value.rfind('/') + 1);
  return value;
}

using Memory = std::unordered_map<std::int64_t, std::optional<std::int64_t>>;

Result<Memory> pss_at_end(const Context& context, Range range) {
  const std::optional<StoredTick> tick = TRY(context.reader.tick_at(range.to_ms));
  if (!tick) return Memory();
  const Snapshot snapshot = TRY(context.reader.snapshot(tick->id));
  Memory memory;
  for (const ProcessState& state : snapshot.processes) {
    memory[state.process.id] = metric_kib(state.sample.memory, Metric::pss);
  }
  return memory;
}

struct Choice {
  std::string spelled;
  std::optional<std::int64_t> pss_kib;
  std::int64_t processes = 0;
  std::string pids;
};

Choice choice_of(const Meaning& meaning, const Memory& memory) {
  Choice choice;
  choice.spelled = shell_word(fmt::format("{}:{}", meaning.key, meaning.value));
  choice.processes = static_cast<std::int64_t>(meaning.members.size());
  std::set<std::int32_t> pids;
  for (const StoredProcess* member : meaning.members) {
    pids.insert(member->info.key.pid);
    const auto held = memory.find(member->id);
    if (held != memory.end() && held->second) choice.pss_kib = choice.pss_kib.value_or(0) + *held->second;
  }
  const auto shown = std::next(pids.begin(), static_cast<std::ptrdiff_t>(std::min(pids.size(), kMostPids)));
  choice.pids = fmt::format("{}{}", fmt::join(pids.begin(), shown, ","), shown == pids.end() ? "" : ",…");
  return choice;
}

Table choice_table(std::vector<Choice> choices) {
  std::ranges::stable_sort(choices, std::greater(), &Choice::pss_kib);
  const Columns<Choice> columns{
      {{"", "PSS AT END", Kind::size}, &Choice::pss_kib},
      {{"", "PROCS", Kind::count}, &Choice::processes},
      {{"", "PIDS", Kind::text, 1}, &Choice::pids},
      {{"", "SUBJECT", Kind::text}, &Choice::spelled},
  };
  return make_table(columns, choices);
}

Error unknown(std::string_view word, const std::vector<StoredProcess>& processes) {
  std::set<std::string> names;
  std::set<std::string> categories;
  for (const StoredProcess& process : processes) {
    categories.insert(process.info.category);
    for (const char* key : kKeys) names.emplace(short_name(key, filter_value(process.info, key)));
  }
  return {ErrorKind::gone,
          fmt::format("nothing in this range is called '{}'{} (categories: {}; programs: memoir processes)",
                      to_printable(word), did_you_mean(word, {names.begin(), names.end()}),
                      to_printable(fmt::format("{}", fmt::join(categories, ", "))))};
}

}  // namespace

std::vector<Meaning> meanings_of(std::string_view word, const std::vector<StoredProcess>& processes) {
  std::vector<Meaning> meanings;
  for (const char* key : kKeys) {
    std::vector<Meaning> found;
    for (const StoredProcess& process : processes) {
      std::string value = filter_value(process.info, key);
      const bool titled = std::string_view(key) == "identity" && identity_title(process.info) == word;
      if (value != word && short_name(key, value) != word && !titled) continue;
      const auto same = std::ranges::find(found, value, &Meaning::value);
      if (same != found.end()) {
        same->members.push_back(&process);
      } else {
        found.push_back({key, std::move(value), {&process}});
      }
    }
    for (Meaning& meaning : found) {
      if (std::ranges::find(meanings, meaning.members, &Meaning::members) == meanings.end()) {
        meanings.push_back(std::move(meaning));
      }
    }
  }
  return meanings;
}

Error ambiguous(const Context& context, std::string_view word, Table choices) {
  Report report;
  report.rows = std::move(choices);
  if (const std::size_t all = report.rows.rows.size(); all > kMostShown) {
    report.rows.rows.resize(kMostShown);
    report.notes.push_back(fmt::format("… and {} more.", all - kMostShown));
  }
  // What is cut cannot be typed.
  std::string table = render_table({}, report, {context.options.zone, context.options.units, false, std::nullopt});
  table.pop_back();
  return malformed(
      fmt::format("'{}' may be any of these; ask for one of them by the last column:\n{}", to_printable(word), table));
}

Result<Subject> choose_subject(const Context& context, Subject subject, const std::vector<StoredProcess>& processes,
                               Range range) {
  if (subject.kind != Subject::Kind::word) return subject;
  const std::vector<Meaning> meanings = meanings_of(subject.name, processes);
  if (meanings.empty()) return unknown(subject.name, processes);
  if (meanings.size() == 1) return subject_of(meanings.front().key, meanings.front().value);
  const Memory memory = TRY(pss_at_end(context, range));
  auto choices = each_of(meanings, [&memory](const Meaning& meaning) { return choice_of(meaning, memory); });
  return ambiguous(context, subject.name, choice_table(std::move(choices)));
}

Result<std::set<std::int64_t>> subject_ids(const Context& context, const State& state) {
  const auto processes = each_of(state.processes, [](const HeldProcess& held) { return *held.process; });
  const std::int64_t at_ms = state.at_ms;
  Subject subject = TRY(parse_subject(context.options.subjects.front(), context.now_ms, context.options.zone));
  subject = TRY(choose_subject(context, std::move(subject), processes, {at_ms, at_ms}));
  const std::vector<StoredProcess> members =
      subject.kind == Subject::Kind::machine ? processes : TRY(members_of(subject, processes, context.options.zone));
  std::set<std::int64_t> ids;
  for (const StoredProcess& member : members) ids.insert(member.id);
  return ids;
}

}  // namespace memoir::query
