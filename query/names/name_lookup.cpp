#include "query/names/name_lookup.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>

#include "base/nearest.h"
#include "base/text.h"
#include "model/metric.h"
#include "query/args/meant.h"
#include "query/render/render.h"
#include "query/render/shell_text.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {
namespace {

constexpr std::array kKeys{"category", "unit", "cgroup", "identity", "exe", "comm", "script", "user"};
constexpr std::array kProgramKeys{std::string_view("identity"), std::string_view("exe"), std::string_view("comm"),
                                  std::string_view("script")};
constexpr std::size_t kMaxShown = 10;
constexpr std::size_t kMaxPids = 3;

// Returns the short form of a key's value.
std::string_view short_name(std::string_view key, std::string_view value) {
  if (key == "unit") return value.substr(0, value.rfind('.'));
  if (key == "cgroup" || key == "exe") return value.substr(value.rfind('/') + 1);
  return value;
}

bool is_program(const NameMatch& meaning) {
  return std::ranges::find(kProgramKeys, meaning.key) != kProgramKeys.end();
}

// If several names mean one program, keeps the one with the most processes. Names that share a process with it are
// other names of the same program.
void merge_programs(std::vector<NameMatch>& meanings) {
  const auto size = [](const NameMatch& meaning) { return is_program(meaning) ? meaning.members.size() : 0; };
  const auto widest = std::ranges::max_element(meanings, {}, size);
  if (widest == meanings.end() || !is_program(*widest)) return;
  const std::set<const StoredProcess*> members(widest->members.begin(), widest->members.end());
  const auto is_shared = [&members](const StoredProcess* member) { return members.contains(member); };
  const std::string kept = widest->key;
  const std::string value = widest->value;
  std::erase_if(meanings, [&](const NameMatch& meaning) {
    const bool same = meaning.key == kept && meaning.value == value;
    return is_program(meaning) && !same && std::ranges::any_of(meaning.members, is_shared);
  });
}

using Memory = std::unordered_map<std::int64_t, std::optional<std::int64_t>>;

Result<Memory> pss_at_exit(const Context& context, Range range) {
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

Choice choice_of(const NameMatch& meaning, const Memory& memory) {
  Choice choice;
  choice.spelled = shell_word(fmt::format("{}:{}", meaning.key, meaning.value));
  choice.processes = static_cast<std::int64_t>(meaning.members.size());
  std::set<std::int32_t> pids;
  for (const StoredProcess* member : meaning.members) {
    pids.insert(member->info.key.pid);
    const auto held = memory.find(member->id);
    if (held != memory.end() && held->second) choice.pss_kib = choice.pss_kib.value_or(0) + *held->second;
  }
  const auto shown = std::next(pids.begin(), static_cast<std::ptrdiff_t>(std::min(pids.size(), kMaxPids)));
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
    if (!process.info.category.empty()) categories.insert(process.info.category);
    for (const char* key : kKeys) names.emplace(short_name(key, filter_value(process.info, key)));
  }
  std::string near(subject_hint(word));
  if (near.empty()) near = did_you_mean(word, {names.begin(), names.end()});
  return {
      ErrorKind::not_found,
      fmt::format(
          "nothing in this range is called '{}'{} ({}memoir processes lists the programs)", to_printable(word), near,
          categories.empty() ? "" : to_printable(fmt::format("categories: {}; ", fmt::join(categories, ", "))))};
}

}  // namespace

std::vector<NameMatch> name_matches(std::string_view word, const std::vector<StoredProcess>& processes) {
  std::vector<NameMatch> meanings;
  for (const char* key : kKeys) {
    std::vector<NameMatch> found;
    for (const StoredProcess& process : processes) {
      std::string value = filter_value(process.info, key);
      const bool titled = std::string_view(key) == "identity" && is_identity_title(word, process.info);
      if (value != word && short_name(key, value) != word && !titled) continue;
      const auto same = std::ranges::find(found, value, &NameMatch::value);
      if (same != found.end()) {
        same->members.push_back(&process);
      } else {
        found.push_back({key, std::move(value), {&process}});
      }
    }
    for (NameMatch& meaning : found) {
      if (std::ranges::find(meanings, meaning.members, &NameMatch::members) == meanings.end()) {
        meanings.push_back(std::move(meaning));
      }
    }
  }
  const auto exact = [word](const NameMatch& meaning) { return meaning.value == word; };
  if (std::ranges::any_of(meanings, exact)) std::erase_if(meanings, [&](const NameMatch& of) { return !exact(of); });
  merge_programs(meanings);
  return meanings;
}

Error ambiguous(const Context& context, std::string_view word, Table choices) {
  Report report;
  report.rows = std::move(choices);
  if (const std::size_t all = report.rows.rows.size(); all > kMaxShown) {
    report.rows.rows.resize(kMaxShown);
    report.notes.push_back(fmt::format("… and {} more.", all - kMaxShown));
  }
  // The table has no maximum width: a truncated name could not be typed.
  std::string table = render_table({}, report, {context.options.zone, context.options.units, false, std::nullopt});
  table.pop_back();
  return malformed(
      fmt::format("'{}' may be any of these; use a name from the last column:\n{}", to_printable(word), table));
}

Result<Subject> choose_subject(const Context& context, Subject subject, const std::vector<StoredProcess>& processes,
                               Range range) {
  if (subject.kind != Subject::Kind::word) return subject;
  const std::vector<NameMatch> meanings = name_matches(subject.name, processes);
  if (meanings.empty()) return unknown(subject.name, processes);
  if (meanings.size() == 1) return subject_of(meanings.front().key, meanings.front().value);
  const Memory memory = TRY(pss_at_exit(context, range));
  auto choices = transformed(meanings, [&memory](const NameMatch& meaning) { return choice_of(meaning, memory); });
  return ambiguous(context, subject.name, choice_table(std::move(choices)));
}

Result<std::vector<std::string>> subject_filters(const Context& context) {
  const Range range = range_asked(context.when, context.file.last_tick_ms);
  std::vector<std::string> filters;
  for (const std::string& word : context.options.subjects) {
    Subject asked = TRY(parse_subject(word, context.now_ms, context.options.zone));
    std::vector<StoredProcess> processes;
    if (asked.kind == Subject::Kind::word) processes = TRY(load_processes(context.reader, range));
    const Subject subject = TRY(choose_subject(context, std::move(asked), processes, range));
    if (auto filter = filter_of(subject)) filters.push_back(*std::move(filter));
  }
  return filters;
}

Result<std::set<std::int64_t>> subject_ids(const Context& context, const State& state) {
  const auto processes = transformed(state.processes, [](const ProcessUse& held) { return *held.process; });
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
