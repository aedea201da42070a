#include "query/commands/top/top.h"

#include "query/args/subject.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

std::vector<std::string> ranks() {
  std::vector<std::string> ranks = names_of(kRankedMetrics);
  ranks.emplace_back("growth");
  return ranks;
}

}  // namespace

Command top_command() {
  return {.name = "top",
          .summary = "processes or groups by memory, at a time or over a range",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::from, Option::to, Option::last, Option::day, Option::by, Option::group,
                      Option::filter, Option::tier, Option::limit},
          .by = ranks(),
          .groups = process_groups(),
          .examples = {{"memoir top --at 03:14", "memory users at 03:14"},
                       {"memoir top --last 2h --group category --by growth",
                        "which categories grew in the last two hours"}},
          .run = [](const Context& context) -> Result<Report> {
            if (context.when.range) return top_over(context, *context.when.range);
            if (context.options.by == "growth") {
              return malformed("--by growth compares two times: give a range (--last 2h, --day yesterday, --from T)");
            }
            return top_at(context);
          },
          .subject_help = subject_help("all processes"),
          .subject_filters = true};
}

}  // namespace memoir::query
