#include <algorithm>

#include "query/answer/tier.h"
#include "query/commands/peaks/peaks.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMostPeaks = 4;

// Heading (2), the table's header, the machine's table (6), notes (6), coverage, and the prompt.
constexpr std::size_t kFixedLines = 17;
constexpr std::size_t kOfRollups = 4;  // what is said of them besides
constexpr std::size_t kOthersLines = 2 * kMostPeaks + 2;
constexpr std::size_t kCategoriesHead = 3;
constexpr std::size_t kFewestRows = 2;

}  // namespace

Room room_for(const Context& context, const PeakQuestion& question, Tier tier) {
  const auto lines = lines_to_fit(context);
  if (!lines || context.options.limit) return {kDefaultRows, std::nullopt, kMostPeaks};
  Room room;
  const std::size_t fixed = kFixedLines + (holds_groups(tier) ? kOfRollups : 0);
  std::size_t spare = *lines - std::min(*lines, fixed);
  room.others = spare >= 2 * kOthersLines ? kMostPeaks : 1;
  spare -= std::min(spare, 2 * room.others + 2);
  const bool has_categories = question.group != "category" && spare >= 3 * (kCategoriesHead + 1);
  room.categories = has_categories ? (spare - kCategoriesHead) / 3 : 0;
  if (has_categories) spare -= kCategoriesHead + *room.categories;
  room.rows = std::max(spare, kFewestRows);
  return room;
}

void limit_peaks(const Context& context, const PeakQuestion& question, Peaks& peaks) {
  const std::size_t all = peaks.rows.size();
  const std::size_t shown = limited(context.options, all, room_for(context, question, peaks.tier).rows);
  peaks.cut = {shown, all, shown < all ? peaks.rows[shown].peak.value_kib : 0, "", false};
  peaks.rows.resize(shown);
}

}  // namespace memoir::query
