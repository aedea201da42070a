#include "query/limit.h"

#include <fmt/format.h>

#include "query/format.h"

namespace memoir::query {

std::size_t limited(const Options& options, std::size_t all) {
  return options.limit == 0 ? all : std::min(all, static_cast<std::size_t>(options.limit));
}

void note_cut(Report& report, const Cut& cut, Units units) {
  const auto rest = static_cast<std::int64_t>(cut.all - cut.shown);
  report.totals.push_back({"rows", "", Kind::count, static_cast<std::int64_t>(cut.all)});
  report.totals.push_back({"cut_rows", "", Kind::count, rest});
  report.totals.push_back({cut.adds_up ? "cut_kib" : "cut_max_kib", "", Kind::size, cut.kib});
  if (rest == 0) return;
  report.notes.push_back(fmt::format("{} of {} rows; the other {} {} {} of {} (--limit 0 shows all).", cut.shown,
                                     cut.all, rest, cut.adds_up ? "hold" : "have at most", print_size(cut.kib, units),
                                     cut.of));
}

}  // namespace memoir::query
