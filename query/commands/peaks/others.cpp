#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <span>

#include "query/commands/peaks/peaks.h"
#include "query/state/changes.h"
#include "query/state/process_columns.h"

namespace memoir::query {

namespace {

constexpr std::size_t kRowsWithOthers = 3;
constexpr std::size_t kMaxOthers = 3;

// Sorts by PSS, the largest first.
template <typename Held>
void rank_by_pss(std::vector<Held>& held) {
  std::ranges::stable_sort(held, std::greater(), [](const Held& of) { return of.kib[Metric::pss]; });
}

bool is_of(const StoredProcess& process, const PeakRow& row, const std::string& group) {
  return row.process ? process.id == row.process->id : peak_name(process, group) == row.name;
}

// Returns the time of a peak; if only its bucket is known, the start of the bucket.
std::int64_t moment_of(const PeakRow& row) {
  return row.within ? row.peak.before_ms : row.peak.at_ms;
}

Result<Others> others_at(const Context& context, const PeakRow& row, std::string of,
                         const std::function<bool(const StoredProcess&)>& is_other) {
  const std::int64_t at_ms = moment_of(row);
  Others others{std::move(of), at_ms};
  std::optional<State> state = TRY(load_state(context, at_ms, row.within));
  if (!state) return others;
  others.means = means_over(*state).has_value();
  rank_by_pss(state->processes);
  for (const ProcessUse& process : state->processes) {
    const auto kib = process.kib[Metric::pss];
    if (!kib || others.largest.size() == kMaxOthers) break;
    if (is_other(*process.process)) others.largest.push_back({*process.process, *kib});
  }
  Changes identities("identity");
  TRY(identities.add(context.reader, Filter(), *state, true));
  for (const Change& of_one : identities.rows()) {
    others.identities.push_back({of_one.name, of_one.is.processes(), {}});
    others.identities.back().kib[Metric::pss] = of_one.is.kib(Metric::pss);
  }
  rank_by_pss(others.identities);
  others.categories = std::move(state->categories);
  rank_by_pss(others.categories);
  return others;
}

// Replaces the shown identities by human-readable names.
Status name_identities(Reader& reader, std::vector<Others>& all) {
  std::set<std::string> names;
  const auto each_shown = [&all](const auto& visit) {
    for (Others& others : all) {
      for (GroupState& group : std::span(others.identities).first(std::min(kMaxGroups, others.identities.size())))
        visit(group.name);
    }
  };
  each_shown([&names](const std::string& name) { names.insert(name); });
  const auto titles = TRY(load_titles(reader, names));
  each_shown([&titles](std::string& name) {
    if (const auto found = titles.find(name); found != titles.end()) name = found->second;
  });
  return Done{};
}

}  // namespace

Result<std::vector<Others>> find_others(const Context& context, const PeakQuery& question, const Peaks& peaks) {
  const std::size_t most = row_limits_for(context, question, peaks.tier).others;
  std::vector<Others> all;
  const bool filtered = !question.filter.takes_all();
  for (const PeakRow& row : peaks.machine) {
    const bool is_known = !all.empty() && all.front().at_ms == moment_of(row);
    if (filtered || row.name == "swap" || is_known || all.size() == most) continue;
    all.push_back(TRY(others_at(context, row, "machine " + row.name, [](const StoredProcess&) { return true; })));
  }
  for (std::size_t index = 0; index < std::min(kRowsWithOthers, peaks.rows.size()) && all.size() < most; ++index) {
    const PeakRow& row = peaks.rows[index];
    const std::string of = row.process        ? fmt::format("process {}", row.process->info.key.pid)
                           : row.name.empty() ? "without a " + question.group
                                              : row.name;
    const auto is_other = [&](const StoredProcess& process) { return !is_of(process, row, question.group); };
    all.push_back(TRY(others_at(context, row, of, is_other)));
  }
  TRY(name_identities(context.reader, all));
  return all;
}

}  // namespace memoir::query
