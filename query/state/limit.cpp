#include "query/state/limit.h"

#include <fmt/format.h>

#include "query/report/format.h"

namespace memoir::query {

namespace {

constexpr std::size_t kFewestRows = 5;

// Heading (2), the table's header, two notes (4), coverage, a warning, and the prompt. On a narrow terminal, more of
// them need two lines.
constexpr std::size_t kOtherLines = 10;
constexpr std::size_t kNarrow = 75;
constexpr std::size_t kMoreOnNarrow = 4;

}  // namespace

std::optional<std::size_t> lines_to_fit(const Context& context) {
  if (!context.screen || context.options.format != Format::table) return std::nullopt;
  const std::size_t more = context.screen->columns < kNarrow ? kMoreOnNarrow : 0;
  return context.screen->lines > more ? context.screen->lines - more : 1;
}

std::size_t limited(const Context& context, std::size_t all, std::size_t more_lines) {
  const auto lines = lines_to_fit(context);
  if (!lines) return limited(context.options, all, kDefaultRows);
  return limited(context.options, all, std::max(kFewestRows, *lines - std::min(*lines, kOtherLines + more_lines)));
}

std::size_t limited(const Options& options, std::size_t all, std::size_t by_default) {
  if (options.limit == 0 || (!options.limit && is_data_format(options.format))) return all;
  return std::min(all, options.limit ? static_cast<std::size_t>(*options.limit) : by_default);
}

std::string brief_left_out(std::int64_t processes) {
  return fmt::format("the {} with the shortest lifetime {} left out; use a shorter range",
                     format_count(processes, "process", "processes"), processes == 1 ? "is" : "are");
}

void add_row_totals(Report& report, std::size_t all, std::size_t shown) {
  report.totals.push_back({"rows", "", Kind::count, all});
  report.totals.push_back({"cut_rows", "", Kind::count, all - shown});
}

void note_cut(Report& report, const Truncation& cut, Units units) {
  const std::size_t rest = cut.all - cut.shown;
  add_row_totals(report, cut.all, cut.shown);
  report.totals.push_back({cut.adds_up ? "cut_kib" : "cut_max_kib", "", Kind::size, cut.kib});
  if (rest == 0) return;
  const std::size_t made = cut.all - cut.beyond_memory;
  const std::string more = cut.beyond_memory == 0 ? "--limit 0 shows all"
                           : cut.shown < made     ? fmt::format("--limit 0 shows the largest {}", made)
                                                  : "use a shorter range or --filter for more";
  note_left_out(report, fmt::format("{} of {} rows; the other {} {} {} of {} ({}).", cut.shown, cut.all, rest,
                                    cut.adds_up ? "hold" : "have at most", format_size(cut.kib, units), cut.of, more));
}

}  // namespace memoir::query
