#include "query/state/filter_values.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <string_view>

#include "query/history/history.h"
#include "query/history/tier.h"

namespace memoir::query {
namespace {

using Most = std::unordered_map<std::int64_t, std::int64_t>;

void take(Most& most, std::int64_t id, std::optional<std::int64_t> kib) {
  if (!kib) return;
  const auto [at, fresh] = most.try_emplace(id, *kib);
  if (!fresh) at->second = std::max(at->second, *kib);
}

// The mark of RSS is VmHWM.
std::optional<Metric> mark_of(Metric metric) {
  if (metric == Metric::rss) return Metric::hwm;
  return info_of(metric).marked.contains(SubjectKind::process) ? std::optional(metric) : std::nullopt;
}

Result<Most> most_over(const Context& context, Range range, Tier tier, Metric metric) {
  Most most;
  if (holds_metric(tier, metric)) {
    TRY(context.reader.history({tier, SubjectKind::process, {}, range, {metric}},
                               [&most](const SubjectInterval& of) { take(most, of.subject_id, of.interval.max); }));
  }
  const std::optional<Metric> mark = mark_of(metric);
  if (!mark) return most;
  const ProcessMarks marks =
      TRY(context.reader.process_marks(range, range, *mark, std::numeric_limits<std::size_t>::max()));
  for (const HighWater& of : marks.marks) take(most, of.subject_id, of.value_kib);
  return most;
}

}  // namespace

Result<Filter> filter_over(const Context& context, Range range) {
  Filter filter = TRY(Filter::parse(context.options.filters));
  if (filter.metrics().empty() || context.file.ticks == 0) return filter;
  const Tier tier = TRY(tier_of(context, range, Reads::all));
  for (const Metric metric : filter.metrics()) {
    filter.decide(metric, TRY(most_over(context, range, tier, metric)));
  }
  return filter;
}

Result<Filter> filter_at(const Options& options, const std::vector<const State*>& states) {
  Filter filter = TRY(Filter::parse(options.filters));
  for (const Metric metric : filter.metrics()) {
    Most most;
    for (const State* state : states) {
      for (const ProcessUse& process : state->processes) take(most, process.process->id, process.kib[metric]);
    }
    filter.decide(metric, most);
  }
  return filter;
}

void note_filter(const Filter& filter, std::string_view in, Report& report) {
  const auto metrics = transformed(filter.metrics(), metric_title);
  if (metrics.empty()) return;
  report.notes.push_back(
      fmt::format("--filter compares each process by its largest {} {}.", fmt::join(metrics, " and "), in));
}

}  // namespace memoir::query
