#pragma once

// Which tier of the history an answer comes from: ticks, or rollups of 5 minutes, an hour, a day. Each command has one
// path for all of them; this says which, and tells the reader.

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

// What --tier may be, the finest first.
const std::vector<std::string>& tier_names();

// Of how much an answer reads the range: of one subject that has rows of its own; of one process, whose ticks lie among
// those of all; or of all. Or of all for the highest of a sum over processes, of which rollups know the mean alone:
// that is worth more time.
enum class Reads { one, process, all, sums };

// The finest tier that reaches back to the range's begin and answers quickly for as long a range. Where none reaches
// back, the one that comes nearest; where all that do are slow, the quickest of them, though none whose buckets are
// wider than `widest_ms` if another reaches back. Without tiers raw.
inline constexpr std::int64_t kAnyWidth = std::numeric_limits<std::int64_t>::max();
Tier choose_tier(std::span<const TierSpan> tiers, Range range, Reads reads, std::int64_t widest_ms = kAnyWidth);

// The same of a file; or what --tier says, which is malformed where it does not reach back as far as something is
// recorded.
Result<Tier> tier_of(const Context& context, Range range, Reads reads, std::int64_t widest_ms = kAnyWidth);

// Of a range that a report has begun with; where nothing was recorded in it, any will do.
Result<Tier> tier_of(const Context& context, const Report& report, Reads reads);

// The finest of the rollups that reaches back to a time; where none does, the one that comes nearest. Raw: there is
// none.
Result<Tier> finest_rollup(Reader& reader, std::int64_t at_ms);

// "5 minutes", "an hour", "a UTC day"
std::string_view tier_width(Tier tier);

// Rollups hold identities, categories and cgroups as subjects of their own; of ticks their members are summed.
bool holds_groups(Tier tier);

// What a tier can answer, so that commands need not know what it is made of. Whether each process is in it, however
// short it lived; else those that are younger than a bucket are in its groups alone.
bool holds_short_lived(Tier tier);
// Whether it has values of a metric of processes: those that are not rolled up are in ticks alone.
bool holds_metric(Tier tier, Metric metric);
// "an hour": over which its values are means; nullopt: they are of one time.
std::optional<std::string_view> bucket_width(Tier tier);

// From when until when it had its maximum, if it has one; of a bucket it was reached somewhere within it, or at the
// time that the bucket tells.
Range max_reached(const Summary& summary, Tier tier);

// The mean over all the time that was recorded: who was not there held nothing, so that means add up. Of a range of a
// single tick, which has no length to weigh with, the plain mean.
std::optional<std::int64_t> mean_over(const Summary& summary, std::int64_t recorded_ms);

// The columns of a maximum; `summary` finds it in a row.
template <typename Row, typename GetSummary>
void add_max_reached(Columns<Row>& columns, int least_useful, Tier tier, Zone zone, GetSummary summary) {
  const auto end = [summary, tier](std::int64_t Range::*member) {
    return [summary, tier, member](const Row& row) {
      const Summary& of = summary(row);
      return of.max ? max_reached(of, tier).*member : Value();
    };
  };
  const bool rolled = holds_groups(tier);
  columns.add({"max_at_ms", "MAX AT", Kind::time, least_useful, rolled ? Shown::machines : Shown::everywhere},
              end(&Range::from_ms));
  columns.add(for_machines("max_until_ms", Kind::time), end(&Range::to_ms));
  if (!rolled) return;
  columns.add(for_people("MAX WITHIN", Kind::text, least_useful), [summary, tier, zone](const Row& row) {
    const Summary& of = summary(row);
    const Range within = max_reached(of, tier);
    return of.max ? print_within(within.from_ms, within.to_ms, zone) : Value();
  });
}

// What must be known of values from rollups that are not all exact.
std::optional<std::string> inexact_line(const ExactShare& exact);

// "at 03:14:00", "within 03:10 to 03:15": when it had its maximum.
std::string print_reached(const Summary& summary, Tier tier, Zone zone);

// In JSON, and for people where it is not ticks: "From rollups of an hour: …".
void report_tier(Tier tier, Report& report);
// How many notes that makes.
int tier_notes(Tier tier);

}  // namespace memoir::query
