// memoir categories: the groups that the rules make, and what their members hold together.

#include <algorithm>
#include <map>

#include "analysis/ranking.h"
#include "query/commands.h"
#include "query/format.h"
#include "query/moment.h"

namespace memoir::query {
namespace {

using Samples = std::vector<CategorySample>;

std::vector<ColumnOf<CategorySample>> snapshot_columns() {
  using Row = CategorySample;
  return {
      {{"category", "CATEGORY", Kind::text}, [](const Row& row) { return Value(row.category); }},
      {{"processes", "PROCESSES", Kind::count}, [](const Row& row) { return Value(row.processes); }},
      {{"rss_kib", "RSS", Kind::size, 3}, [](const Row& row) { return Value(row.rss_kib); }},
      {{"pss_kib", "PSS", Kind::size}, [](const Row& row) { return Value(row.pss_kib); }},
      {{"uss_kib", "USS", Kind::size, 2}, [](const Row& row) { return Value(row.uss_kib); }},
      {{"swap_kib", "SWAP", Kind::size, 1}, [](const Row& row) { return Value(row.swap_kib); }},
      {{"swap_pss_kib", "SWAPPSS", Kind::size, 4}, [](const Row& row) { return Value(row.swap_pss_kib); }},
      {{"inexact", "INEXACT", Kind::count, 5}, [](const Row& row) { return Value(row.inexact); }},
  };
}

Result<Report> at_one_time(const Context& context) {
  const Result<std::optional<Snapshot>> loaded = load_snapshot(context);
  if (!loaded) return loaded.error();
  if (!*loaded) return nothing_recorded(context);
  const Snapshot& snapshot = **loaded;
  Samples samples = snapshot.categories;
  std::stable_sort(samples.begin(), samples.end(),
                   [](const CategorySample& a, const CategorySample& b) { return a.pss_kib > b.pss_kib; });
  Report report;
  report.at_ms = snapshot.tick.begin.wall_ms;
  report.title = "categories, by PSS";
  report.rows = make_table(snapshot_columns(), samples);
  if (const auto warning = stale_warning(context, snapshot)) report.warnings.push_back(*warning);
  return report;
}

}  // namespace

Command categories_command() {
  return {"categories",
          "the categories, how many processes each holds, and their sums",
          "",
          {Option::at, Option::from, Option::to, Option::last, Option::day, Option::by, Option::limit},
          {"pss", "rss", "uss", "swap"},
          {},
          {{"memoir categories", "what each category holds now"},
           {"memoir categories --day yesterday --by rss", "mean and largest sum of each category, yesterday"}},
          at_one_time};
}

}  // namespace memoir::query
