#pragma once

// Chooses the tier of an answer: ticks, or rollups of 5 minutes, an hour, a day. Each command has one code path for all
// tiers; this module chooses one and reports it to the reader.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/ranking.h"
#include "base/result.h"
#include "query/args/zone.h"
#include "query/state/command.h"

namespace memoir::query {

// Values of --tier, the finest first.
const std::vector<std::string>& tier_names();

// How much an answer reads. one: a subject with its own rows. process: one process, with ticks that are stored
// among those of all processes. all: all processes. sums: all processes, for the maximum of their sum. This maximum is
// worth more time, because rollups only have the mean of a sum.
enum class Reads { one, process, all, sums };

// Returns the finest tier that reaches back to the start of the range and answers quickly for its length. If no tier
// reaches back, returns the tier that comes nearest. If all that reach back are slow, returns the quickest of them, but
// avoids buckets wider than `widest_ms` if a finer tier reaches back. Returns raw if there are no tiers.
inline constexpr std::int64_t kAnyWidth = std::numeric_limits<std::int64_t>::max();
Tier choose_tier(std::span<const TierSpan> tiers, Range range, Reads reads, std::int64_t widest_ms = kAnyWidth);

// Returns the value of --tier, or chooses a tier for the file. A --tier that does not reach back to recorded data is
// malformed.
Result<Tier> tier_of(const Context& context, Range range, Reads reads, std::int64_t widest_ms = kAnyWidth);

// Like tier_of() above, for the range of a report. Returns raw if nothing was recorded in it.
Result<Tier> tier_of(const Context& context, const Report& report, Reads reads);

// Returns the finest rollup that reaches back to a time; if none does, the rollup that comes nearest. Returns raw if
// there are no rollups.
Result<Tier> finest_rollup(Reader& reader, std::int64_t at_ms);

// "5 minutes", "an hour", "a UTC day"
std::string_view tier_width(Tier tier);

// Returns whether the tier stores identities, categories and cgroups as subjects of their own. Rollups do; processes
// younger than a bucket are only part of these groups. For ticks, the members of a group are summed.
bool holds_groups(Tier tier);

// Returns whether the tier has values of a process metric: metrics that are not rolled up are only in ticks.
bool holds_metric(Tier tier, Metric metric);

// Returns when the maximum was reached, if there is one. From rollups, it was reached at some time within the range.
Range max_reached(const Summary& summary, Tier tier);

// Returns the mean over all recorded time: an absent process counts as 0, so that means add up. A single tick has no
// length for weighting, so the plain mean is returned.
std::optional<std::int64_t> mean_over(const Summary& summary, std::int64_t recorded_ms);

// Adds the columns of a maximum. `summary` returns the Summary of a row.
template <typename Row, typename GetSummary>
void add_max_reached(Columns<Row>& columns, int drop_order, Tier tier, Zone zone, GetSummary summary) {
  const auto end = [summary, tier](std::int64_t Range::*member) {
    return [summary, tier, member](const Row& row) {
      const Summary& of = summary(row);
      return of.max ? max_reached(of, tier).*member : Value();
    };
  };
  const bool rolled = holds_groups(tier);
  columns.add({"max_at_ms", "MAX AT", Kind::time, drop_order, rolled ? Shown::machines : Shown::everywhere},
              end(&Range::from_ms));
  columns.add(data_column("max_until_ms", Kind::time), end(&Range::to_ms));
  if (!rolled) return;
  columns.add(display_column("MAX WITHIN", Kind::text, drop_order), [summary, tier, zone](const Row& row) {
    const Summary& of = summary(row);
    const Range within = max_reached(of, tier);
    return of.max ? format_within(within.from_ms, within.to_ms, zone) : Value();
  });
}

// Returns a note if the values from rollups are not all exact; otherwise nullopt.
std::optional<std::string> inexact_line(const ExactShare& exact);

// "at 03:14:00", "within 03:10 to 03:15": time of the maximum.
std::string format_reached(const Summary& summary, Tier tier, Zone zone);

// Adds the tier to JSON and, unless it is raw, a note: "From rollups of an hour: …".
void report_tier(Tier tier, Report& report);
// Returns "Processes younger than a bucket have rollups only in their groups…"; `what` completes the sentence.
std::string short_lived_note(std::string_view what);
// Returns the number of notes that report_tier() adds.
int tier_notes(Tier tier);

}  // namespace memoir::query
